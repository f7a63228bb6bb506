import type { TestContext } from 'node:test';
import type { KubeObject } from '../../src/api/index.ts';
import type { KubeClient, ListTarget } from '../../src/cluster/client.ts';
import { type Watch, type WatchOptions, watchObjects } from '../../src/cluster/watch.ts';

/** A watch that writes down what it is told. */
export interface WatchLog {
  watch: Watch;
  /** `added a`, in order; names without namespace. */
  events: string[];
  objects: KubeObject[];
  /** Codes of what `onError` was told. */
  errors: string[];
  syncs: string[][];
}

export function startWatch(
  t: Pick<TestContext, 'after'>,
  client: KubeClient,
  target: ListTarget,
  options: WatchOptions = {},
): WatchLog {
  const log: Omit<WatchLog, 'watch'> = { events: [], objects: [], errors: [], syncs: [] };
  const watch = watchObjects(
    client,
    target,
    {
      onEvent(type, object) {
        log.events.push(`${type} ${object.metadata.name}`);
        log.objects.push(object);
      },
      onError: (error) => log.errors.push(error.code),
      onSync: (keys) => log.syncs.push([...keys]),
    },
    options,
  );
  t.after(() => watch.stop());
  return { watch, ...log };
}
