import { ANNOTATION, API_VERSION, EspalierError, parseDuration } from '../api/index.ts';
import { watchObjects } from '../cluster/watch.ts';
import { plain } from '../plan/plain.ts';
import { sameApp } from '../resolve/extension-versions.ts';
import { isHopeless } from './cluster.ts';
import { ExitCode } from './exit.ts';
import { print, say } from './print.ts';
import { asOurs, isReady, whyOf } from './standing.ts';
import type { Looked } from './with-catalogue.ts';

interface Target {
  namespace: string;
  name: string;
}

/** What is seen of the Plugin of an instance; `done` when there is nothing left to wait for. */
interface Seen {
  done: boolean;
  standing: string;
}

/** Waits until the Plugin of an instance is ready, at the version where one is known. Exit 1 when that takes too long. */
export async function awaitInstance(
  looked: Looked,
  target: Target,
  version: string | undefined,
  timeout: string,
): Promise<void> {
  await awaitPlugin(looked, target, timeout, 'ready', (object) => {
    if (object === undefined) return { done: false, standing: 'the agent has not made its Plugin yet' };
    const plugin = asOurs(object);
    const current = plugin.metadata.annotations?.[ANNOTATION.extensionVersion];
    const isThere = version === undefined || (current !== undefined && sameApp(current, version));
    return { done: isThere && isReady(plugin), standing: `${plugin.status?.phase ?? 'Pending'}: ${whyOf(plugin)}` };
  });
}

export async function awaitGone(looked: Looked, target: Target, timeout: string): Promise<void> {
  await awaitPlugin(looked, target, timeout, 'gone', (object) =>
    object === undefined ? { done: true, standing: '' } : { done: false, standing: whyOf(asOurs(object)) },
  );
}

async function awaitPlugin(
  { cluster }: Looked,
  { namespace, name }: Target,
  timeout: string,
  what: string,
  judge: (object: Parameters<typeof asOurs>[0] | undefined) => Seen,
): Promise<void> {
  if (cluster === undefined) throw new EspalierError('Internal', 'Waiting needs a cluster.');
  const title = `${namespace}/${name}`;
  const ended = Promise.withResolvers<boolean>();
  let latest: Seen = { done: false, standing: '' };
  const look = (object: Parameters<typeof asOurs>[0] | undefined): void => {
    const before = latest.standing;
    latest = judge(object);
    if (latest.done) ended.resolve(true);
    else if (latest.standing !== before) say(`${title}: ${plain(latest.standing)}`);
  };
  const watch = watchObjects(
    cluster.client,
    { apiVersion: API_VERSION, kind: 'Plugin', namespace, fieldSelector: `metadata.name=${name}` },
    {
      onEvent: (type, object) => look(type === 'deleted' ? undefined : object),
      onSync: (keys) => (keys.size === 0 ? look(undefined) : undefined),
      onError: (error) => (isHopeless(error) ? ended.reject(error) : say(`espalier: ${error.message}; trying again`)),
    },
  );
  const deadline = setTimeout(() => ended.resolve(false), Math.min(parseDuration(timeout), 2 ** 31 - 1));
  try {
    if (await ended.promise) return print(`${title} is ${what}`);
    say(`espalier: ${title}: not ${what} within ${timeout}: ${plain(latest.standing)}`);
    throw new ExitCode(1);
  } finally {
    clearTimeout(deadline);
    await watch.stop();
  }
}
