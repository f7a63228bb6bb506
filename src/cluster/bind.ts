import { refOf } from '../api/index.ts';
import { parseJson } from './answers.ts';
import type { Discovery } from './discovery.ts';
import { badAnswer } from './failure.ts';
import { isRecord } from './json.ts';
import type { KubeClient, RawAnswer, RawRequest } from './kubeclient.ts';
import { createPerform } from './perform.ts';
import { get, list, pages, watchOnce } from './read.ts';
import type { Acting, Requester } from './requester.ts';
import { create, patch, remove, update } from './write.ts';

export interface ClientParts {
  requester: Requester;
  discovery: Discovery;
  random: () => number;
  server: string;
  namespace: string | undefined;
  close(): Promise<void>;
}

/** The client for one user and guard; all of them share the parts. */
export function bindClient(parts: ClientParts, acting: Acting): KubeClient {
  const { requester, discovery, random } = parts;
  const perform = createPerform(requester, discovery, acting);

  function raw({ method, path, query, headers, body, ...options }: RawRequest): Promise<RawAnswer> {
    const reads = method === 'GET' || method === 'HEAD';
    return requester.send(
      {
        verb: 'raw',
        subject: { path },
        method,
        path,
        repeat: reads ? 'repeatable' : 'once',
        mutating: !reads,
        options,
        accept: () => true,
        ...(query === undefined ? {} : { query }),
        ...(headers === undefined ? {} : { headers }),
        ...(body === undefined ? {} : { body }),
      },
      acting,
    );
  }

  return {
    server: parts.server,
    namespace: parts.namespace,
    get: (ref, options) => get(perform, ref, options),
    list: (target, options) => list(perform, target, options),
    pages: (target, onPage, options) => pages(perform, target, onPage, options),
    watchOnce: (target, options) => watchOnce({ requester, discovery, random, acting }, target, options),
    create: (object, options) => create(perform, object, options),
    update: (object, options) => update(perform, object, options),
    apply: (object, options) => patch(perform, refOf(object), object, { ...options, type: 'apply' }),
    patch: (ref, body, options) => patch(perform, ref, body, options),
    delete: (ref, options) => remove(perform, ref, options),
    as(user) {
      const { user: _before, ...rest } = acting;
      return bindClient(parts, user === undefined ? rest : { ...rest, user });
    },
    guarded: (guard) => bindClient(parts, { ...acting, guard }),
    resource: (apiVersion, kind, options) => discovery.resource(apiVersion, kind, options?.signal),
    resources: (options) => discovery.all(options?.partial === true),
    version: (options) => version(requester, acting, options?.signal),
    raw,
    close: () => parts.close(),
  };
}

async function version(
  requester: Requester,
  acting: Acting,
  signal: AbortSignal | undefined,
): ReturnType<KubeClient['version']> {
  const subject = { path: '/version' };
  const answer = await requester.send(
    {
      verb: 'discover',
      subject,
      method: 'GET',
      path: '/version',
      repeat: 'repeatable',
      options: signal === undefined ? {} : { signal },
    },
    acting,
  );
  const parsed = parseJson('discover', subject, answer);
  const { gitVersion, major, minor } = isRecord(parsed) ? parsed : {};
  if (typeof gitVersion !== 'string' || typeof major !== 'string' || typeof minor !== 'string') {
    throw badAnswer('discover', subject, 'the answer is not a Kubernetes version');
  }
  return { gitVersion, major, minor };
}
