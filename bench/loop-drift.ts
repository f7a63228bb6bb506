import { watchObjects } from '../src/cluster/watch.ts';
import { requestsSince } from './agent-process.ts';
import { configMap, pluginFiles } from './declarations.ts';
import { below, median, type Row, seconds, spread } from './figures.ts';
import { inWorld, type World } from './world.ts';

const EDITS = 20;
const DECLARED = 'as declared';

/** Edits a field by hand, of another object each time, and waits until somebody who watches sees it restored. */
export async function driftBench(): Promise<Row[]> {
  return await inWorld(async (world) => {
    const names = Array.from({ length: EDITS }, (_, index) => `drift-${index}`);
    const commit = await world.commit(
      pluginFiles(
        'drift',
        names.map((name) => configMap(name, DECLARED)),
      ),
    );
    const ready = world.plugins.ready(['drift'], commit);
    await world.hook();
    await ready;
    const before = await world.agent.requests();
    const restored: number[] = [];
    for (const name of names) restored.push(await edit(world, name));
    // The last repair is followed by its status.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const sent = requestsSince(before, await world.agent.requests());
    const patches = (sent.get('apply ConfigMap') ?? 0) + (sent.get('patch ConfigMap') ?? 0);
    const reads = (sent.get('get ConfigMap') ?? 0) + (sent.get('list ConfigMap') ?? 0);
    return [
      below(`an edited field is restored (${spread(restored)})`, median(restored), 1_000, seconds),
      { what: `patches for ${EDITS} edits`, figure: String(patches), goal: String(EDITS), met: patches === EDITS },
      { what: `reads for ${EDITS} edits`, figure: String(reads) },
      { what: `status writes for ${EDITS} edits`, figure: String(sent.get('patch Plugin') ?? 0) },
    ];
  });
}

async function edit({ client, namespace }: World, name: string): Promise<number> {
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace, name };
  const { promise, resolve } = Promise.withResolvers<number>();
  let edited = false;
  const watch = watchObjects(
    client,
    { apiVersion: 'v1', kind: 'ConfigMap', namespace, fieldSelector: `metadata.name=${name}` },
    {
      onEvent(_type, object) {
        const { text } = object.data as { text?: string };
        if (text !== DECLARED) edited = true;
        else if (edited) resolve(performance.now());
      },
    },
  );
  await watch.synced;
  const started = performance.now();
  await client.patch(ref, { data: { text: 'by hand' } }, { type: 'merge', fieldManager: 'somebody' });
  const seen = await promise;
  await watch.stop();
  return seen - started;
}
