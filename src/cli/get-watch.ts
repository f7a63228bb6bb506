import { type ChangePrinter, documentPrinter, keyOf, rowPrinter } from './change-printer.ts';
import { type Cluster, isHopeless } from './cluster.ts';
import { notFound } from './find.ts';
import { type GetOptions, isNamed, targetOf } from './get-options.ts';
import type { GetRequest } from './get-request.ts';
import { noneFound } from './none-found.ts';
import { readerGone, say } from './print.ts';
import { asOurs, type Ours } from './standing.ts';

/** Prints what there is and then, until the reader has gone, each object that changes, in the form that was asked for. */
export async function watchAndPrint(cluster: Cluster, request: GetRequest, options: GetOptions): Promise<void> {
  const { watchObjects } = await import('../cluster/watch.ts');
  const printer = printerFor(request, options);
  /** What came before everything is known, so that it is printed in order. */
  let first: Map<string, Ours> | undefined = new Map();
  const failed = Promise.withResolvers<never>();
  const watches = request.kinds.map((kind) =>
    watchObjects(cluster.client, targetOf(kind, cluster.namespace, options), {
      onEvent(type, live) {
        const object = asOurs(live);
        if (request.names?.some((name) => isNamed(object, name)) === false) return;
        if (type === 'deleted') first === undefined ? printer.deleted(object) : first.delete(keyOf(object));
        else first === undefined ? printer.changed([object]) : first.set(keyOf(object), object);
      },
      onError(error) {
        if (isHopeless(error)) failed.reject(error);
        else say(`espalier: ${error.message}; trying again`);
      },
    }),
  );
  try {
    await Promise.race([failed.promise, Promise.all(watches.map(({ synced }) => synced))]);
    const objects = [...first.values()].sort(inOrder);
    first = undefined;
    printer.changed(objects);
    const missing = request.names?.find((name) => !objects.some((object) => isNamed(object, name)));
    if (missing !== undefined) throw await notFound(cluster, missing);
    if (objects.length === 0) say(await noneFound(cluster, request.kinds, options));
    await Promise.race([failed.promise, gone()]);
  } finally {
    await Promise.all(watches.map((watch) => watch.stop()));
  }
}

function printerFor(request: GetRequest, options: GetOptions): ChangePrinter {
  const { output } = options;
  return output === undefined || output === 'wide' ? rowPrinter(request, options) : documentPrinter(output);
}

function gone(): Promise<void> {
  return new Promise((resolve) => {
    if (readerGone.aborted) resolve();
    readerGone.addEventListener('abort', () => resolve(), { once: true });
  });
}

function inOrder(a: Ours, b: Ours): number {
  if (a.kind !== b.kind) return a.kind === 'Sync' ? -1 : 1;
  return keyOf(a) < keyOf(b) ? -1 : 1;
}
