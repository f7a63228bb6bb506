import { EspalierError, type KubeObject, messageOf } from '../api/index.ts';
import { memoryTree } from '../git/memorytree.ts';
import { lastWords, type RenderTools, runContained } from '../render/contained.ts';
import { DEFAULT_RENDER_LIMITS } from '../render/limits.ts';
import { parseText } from '../render/parse-stream.ts';
import { withPrivateFolder, writeFiles } from '../render/private-folder.ts';
import { REAL_TOOLS, renderPlugin } from '../render/render.ts';
import { templateValues } from '../resolve/values.ts';
import { differences } from './differences.ts';
import type { ParameterSet } from './parameter-sets.ts';
import { type Addon, namespaceOf } from './read-addon.ts';

export interface Proof {
  title: string;
  /** How many objects are the same; of no use where something differs. */
  objects: number;
  /** Both refuse these values. */
  refused?: string;
  differences: string[];
}

/** Renders an add-on and a chart with each set of values, the one as the agent does and the other by Helm alone, and compares. */
export async function prove(
  addon: Addon,
  chart: ReadonlyMap<string, Uint8Array | string>,
  sets: readonly ParameterSet[],
  tools: RenderTools = REAL_TOOLS,
): Promise<Proof[]> {
  const proofs: Proof[] = [];
  for (const set of sets) {
    const [ours, theirs] = await Promise.all([
      orWhyNot(renderAddon(addon, set, tools)),
      orWhyNot(renderByHelm(addon, chart, set, tools)),
    ]);
    proofs.push({ title: set.title, ...compare(ours, theirs) });
  }
  return proofs;
}

type Answer = { objects: KubeObject[] } | { why: string };

function compare(ours: Answer, theirs: Answer): Omit<Proof, 'title'> {
  if ('why' in ours)
    return 'why' in theirs
      ? { objects: 0, refused: ours.why, differences: [] }
      : { objects: 0, differences: [`the add-on does not render: ${ours.why}; the chart does`] };
  if ('why' in theirs)
    return { objects: 0, differences: [`the chart does not render: ${theirs.why}; the add-on does`] };
  return { objects: ours.objects.length, differences: differences(ours.objects, theirs.objects) };
}

async function orWhyNot(rendering: Promise<KubeObject[]>): Promise<Answer> {
  try {
    return { objects: await rendering };
  } catch (error) {
    if (!(error instanceof EspalierError) || error.code.startsWith('Tool')) throw error;
    return { why: messageOf(error) };
  }
}

export async function renderAddon(
  addon: Addon,
  set: ParameterSet,
  tools: RenderTools = REAL_TOOLS,
): Promise<KubeObject[]> {
  // As the agent makes them: a null takes a default away.
  const values = templateValues({ values: set.values });
  const spec = { kind: 'manifests', source: { git: { path: '.', template: true } } } as const;
  const files = addon.files.map(({ name, content }) => [name, { type: 'file', data: content }] as const);
  const plugin = { metadata: { name: addon.name, namespace: placeOf(addon) }, spec };
  const tree = memoryTree(new Map(files), 'local');
  return (await renderPlugin({ plugin, tree, path: '.', values }, tools)).objects;
}

async function renderByHelm(
  addon: Addon,
  chart: ReadonlyMap<string, Uint8Array | string>,
  { values }: ParameterSet,
  tools: RenderTools,
): Promise<KubeObject[]> {
  return await withPrivateFolder(async (folder) => {
    await writeFiles(folder, new Map([...chart].map(([path, content]) => [`chart/${path}`, content])));
    const result = await runContained(tools, {
      tool: 'helm',
      args: [
        ...['template', addon.name, 'chart', '--namespace', placeOf(addon), '--values', '-'],
        // A chart that somebody went on with may have moved definitions there.
        ...['--include-crds', '--skip-tests'],
      ],
      folder,
      input: JSON.stringify(values),
      timeoutMs: DEFAULT_RENDER_LIMITS.timeoutMs,
      outputBytes: DEFAULT_RENDER_LIMITS.outputBytes,
      secrets: [],
    });
    if (result.code !== 0) throw new EspalierError('RenderFailed', lastWords(result.stderr), { retry: false });
    return await parseText(result.stdout, 'the chart');
  });
}

function placeOf(addon: Addon): string {
  return namespaceOf(addon)?.name ?? 'default';
}
