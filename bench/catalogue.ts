import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { API_VERSION, type Plugin, readAs, type Sync } from '../src/api/index.ts';
import { createReader } from '../src/declare/reader.ts';
import { folderTree } from '../src/git/foldertree.ts';
import type { CatalogueFacts } from '../src/reconcile/catalogue-facts.ts';
import { type Compiled, compile } from '../src/reconcile/compile.ts';
import { below, plainTable, type Row } from './figures.ts';

const COUNT = 200;
const GOAL_MS = 200;
const REPEATS = 5;

/** What 200 extensions, each with versions, ranges, parameters and a dependency, cost when they are made into Plugins. */
export async function main(): Promise<Row[]> {
  const dir = await mkdtemp(join(tmpdir(), 'espalier-bench-'));
  try {
    for (const [path, text] of Object.entries(files())) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), text);
    }
    const tree = folderTree(dir);
    const reader = createReader();
    const at = async (kubernetes: string, plugins: Plugin[]): Promise<{ compiled: Compiled; cpuMs: number }> => {
      const started = process.cpuUsage();
      const compiled = await compile({ sync: SYNC, tree, reader, plugins, catalogue: facts(kubernetes) });
      const { user, system } = process.cpuUsage(started);
      assert.equal(compiled.plugins.size, COUNT);
      assert.deepEqual(compiled.faults, []);
      return { compiled, cpuMs: (user + system) / 1000 };
    };
    const first = await at('v1.35.2', []);
    const installed = pluginsOf(first.compiled);
    const again: number[] = [];
    for (let time = 0; time < REPEATS; time += 1) again.push((await at('v1.35.2', installed)).cpuMs);
    const upgraded = await at('v1.36.0', installed);
    const moved = movedBy(first.compiled, upgraded.compiled);
    const cpu = (ms: number): string => `${ms.toFixed(0)} ms of CPU`;
    const rows: Row[] = [
      below(`${COUNT} extensions and ${COUNT} instances, resolved again`, Math.min(...again), GOAL_MS, cpu),
      { what: 'the same, read from files for the first time', figure: cpu(first.cpuMs) },
      {
        what: 'Kubernetes 1.35 becomes 1.36, which a tenth of them notices',
        figure: `${cpu(upgraded.cpuMs)}, ${moved} Plugins are other ones`,
        goal: `${COUNT / 10} Plugins`,
        met: moved === COUNT / 10,
      },
    ];
    console.log(`${plainTable(rows)}\n`);
    return rows;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const SYNC = {
  apiVersion: API_VERSION,
  kind: 'Sync',
  metadata: { name: 'bench', namespace: 'bench' },
  spec: { repository: { url: 'https://git.example.com/bench.git', path: '.' }, cluster: { labels: {} } },
} as unknown as Sync;

function facts(kubernetes: string): CatalogueFacts {
  return { kubernetes, now: 0, extensions: [], instances: [], tags: async () => [] };
}

function files(): Record<string, string> {
  const made: Record<string, string> = {};
  for (let at = 0; at < COUNT; at += 1) {
    const chart = (version: string) => ({
      chart: { repository: 'https://charts.example.com', name: `e${at}`, version },
    });
    const edge = at % 10 === 0 ? '1.36' : '1.99';
    const spec = {
      displayName: `Extension ${at}`,
      category: 'Bench',
      parameters: {
        type: 'object',
        properties: {
          replicas: { type: 'integer', minimum: 1, default: 1 },
          host: { type: 'string', pattern: '^[a-z0-9.-]+$' },
          mode: { type: 'string', enum: ['fast', 'safe'], default: 'safe' },
        },
      },
      ...(at % 5 === 0 ? {} : { dependsOn: [`e${at - 1}`] }),
      versions: [
        { app: 'v1.0.0', kubernetes: '<1.34', source: chart('1.0.0') },
        { app: 'v2.0.0', kubernetes: `>=1.33 <${edge}`, source: chart('2.0.0') },
        { app: 'v3.0.0', kubernetes: `>=${edge}`, source: chart('3.0.0'), from: '>=2' },
      ],
    };
    made[`extensions/e${at}.yaml`] = JSON.stringify({
      apiVersion: API_VERSION,
      kind: 'Extension',
      metadata: { name: `e${at}` },
      spec,
    });
    const instance = { extension: `e${at}`, parameters: { replicas: 2, host: `h${at}.example.com` } };
    made[`instances/e${at}.yaml`] = JSON.stringify({
      apiVersion: API_VERSION,
      kind: 'ExtensionInstance',
      metadata: { name: `e${at}` },
      spec: instance,
    });
  }
  return made;
}

const READY = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

/** As the Sync would have written them, and healthy. */
function pluginsOf({ levels }: Compiled): Plugin[] {
  return levels
    .flat()
    .flatMap(({ object }) =>
      object.kind === 'Plugin' ? [readAs({ ...object, status: { conditions: [READY] } }, 'Plugin')] : [],
    );
}

function movedBy(before: Compiled, after: Compiled): number {
  const inputs = new Map(before.levels.flat().map(({ key, inputs: hash }) => [key, hash]));
  return after.levels
    .flat()
    .filter(({ key, object, inputs: hash }) => object.kind === 'Plugin' && inputs.get(key) !== hash).length;
}
