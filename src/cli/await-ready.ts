import { API_VERSION } from '../api/names.ts';
import { watchObjects } from '../cluster/watch.ts';
import { type Cluster, isHopeless } from './cluster.ts';
import { say } from './print.ts';
import { type Progress, progressOf } from './progress.ts';
import { asOurs, type Ours } from './standing.ts';
import { shown } from './target.ts';

export interface Awaited {
  ready: boolean;
  /** How it ended, for people. */
  text: string;
}

export interface AwaitOptions {
  /** The value of the annotation that asked. */
  request: string;
  timeoutMs: number;
  /** The same for people: `5m`. */
  timeout: string;
}

/** An agent that runs answers within a second. After this long a person wants to hear why nothing happens. */
const SILENCE_MS = 5_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Follows an object until the agent has answered the request and is done with it, telling on stderr what happens. */
export async function awaitReady(
  { client }: Cluster,
  { kind, metadata: { name, namespace = '' } }: Ours,
  { request, timeoutMs, timeout }: AwaitOptions,
): Promise<Awaited> {
  const title = shown({ kind, name });
  const ended = Promise.withResolvers<Awaited>();
  const end = (ready: boolean, text: string) => ended.resolve({ ready, text });
  let latest: Progress = { state: 'unanswered', standing: '' };

  function look(object: Ours): void {
    const before = latest;
    latest = progressOf(object, request);
    if (latest.state === 'ready') end(true, `${title} is ready: ${latest.standing}`);
    else if (latest.state === 'stopped') end(false, `espalier: ${title}: ${latest.standing}`);
    else if (latest.state === 'working' && latest.standing !== before.standing) say(`${title}: ${latest.standing}`);
  }

  const watch = watchObjects(
    client,
    { apiVersion: API_VERSION, kind, namespace, fieldSelector: `metadata.name=${name}` },
    {
      onEvent: (type, object) => (type === 'deleted' ? end(false, gone(title)) : look(asOurs(object))),
      onSync: (keys) => (keys.size === 0 ? end(false, gone(title)) : undefined),
      onError: (error) => (isHopeless(error) ? ended.reject(error) : say(`espalier: ${error.message}; trying again`)),
    },
  );
  const silence = setTimeout(() => {
    if (latest.state === 'unanswered') say(`${title}: ${silent(latest)}`);
  }, SILENCE_MS);
  const deadline = setTimeout(
    () => end(false, `espalier: ${title}: not ready within ${timeout}: ${late(latest)}`),
    Math.min(timeoutMs, LONGEST_TIMER_MS),
  );
  try {
    return await ended.promise;
  } finally {
    clearTimeout(silence);
    clearTimeout(deadline);
    await watch.stop();
  }
}

function gone(title: string): string {
  return `espalier: ${title} was deleted`;
}

function late(progress: Progress): string {
  return progress.state === 'unanswered' ? silent(progress) : progress.standing;
}

function silent({ standing }: Progress): string {
  return `the agent has not answered (it said before: ${standing}); is it running? See "kubectl get leases,pods -n espalier-system"`;
}
