import { EspalierError, type Json, type JsonObject, type KubeObject, messageOf } from '../api/index.ts';
import { memoryTree } from '../git/memorytree.ts';
import { lastWords, type RenderTools, runContained } from '../render/contained.ts';
import { DEFAULT_RENDER_LIMITS } from '../render/limits.ts';
import { parseText } from '../render/parse-stream.ts';
import { withPrivateFolder, writeFiles } from '../render/private-folder.ts';
import { REAL_TOOLS, renderPlugin } from '../render/render.ts';
import { isMap } from '../resolve/json-schema.ts';
import { templateValues } from '../resolve/values.ts';
import { type Difference, differences, differingPlaces } from './differences.ts';
import type { ParameterSet } from './parameter-sets.ts';
import { type Addon, placeOf } from './read-addon.ts';

export interface Proof {
  title: string;
  /** How many objects are the same; of no use where something differs. */
  objects: number;
  /** Both refuse these values. */
  refused?: string;
  differences: Difference[];
}

export interface Proofs {
  proofs: Proof[];
  /** Fields that the add-on renders otherwise each time (a random password), which can't be compared. */
  random: ReadonlySet<string>;
}

/** Renders an add-on and a chart with each set of values, the one as the agent does and the other by Helm alone, and compares. */
export async function prove(
  addon: Addon,
  chart: ReadonlyMap<string, Uint8Array | string>,
  sets: readonly ParameterSet[],
  tools: RenderTools = REAL_TOOLS,
): Promise<Proofs> {
  const proofs: Proof[] = [];
  const random = new Set<string>();
  for (const set of sets) {
    const rendered = () => orWhyNot(renderAddon(addon, set, tools));
    const [ours, theirs] = await Promise.all([rendered(), orWhyNot(renderByHelm(addon, chart, set, tools))]);
    const found = compare(ours, theirs, random);
    if (found.differences.length > 0 && 'objects' in ours) {
      const again = await rendered();
      if ('objects' in again) for (const place of differingPlaces(ours.objects, again.objects)) random.add(place);
    }
    proofs.push({ title: set.title, ...compare(ours, theirs, random) });
  }
  return { proofs, random };
}

type Answer = { objects: KubeObject[] } | { why: string };

function compare(ours: Answer, theirs: Answer, random: ReadonlySet<string>): Omit<Proof, 'title'> {
  if ('why' in ours)
    return 'why' in theirs
      ? { objects: 0, refused: ours.why, differences: [] }
      : { objects: 0, differences: [alone('add-on', ours.why, 'chart')] };
  if ('why' in theirs) return { objects: 0, differences: [alone('chart', theirs.why, 'add-on')] };
  return { objects: ours.objects.length, differences: differences(ours.objects, theirs.objects, random) };
}

function alone(broken: string, why: string, other: string): Difference {
  return { place: why, text: `the ${broken} does not render: ${why}; the ${other} does` };
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
      input: JSON.stringify(withoutGiven(values, addon.defaults)),
      timeoutMs: DEFAULT_RENDER_LIMITS.timeoutMs,
      outputBytes: DEFAULT_RENDER_LIMITS.outputBytes,
      secrets: [],
    });
    if (result.code !== 0) throw new EspalierError('RenderFailed', lastWords(result.stderr), { retry: false });
    return await parseText(result.stdout, 'the chart');
  });
}

/** Without the nulls that are a default already: there is nothing in the chart that they could take away. */
function withoutGiven(values: JsonObject, defaults: JsonObject): JsonObject {
  const fields = Object.entries(values).flatMap(([name, value]): [string, Json][] => {
    const preset = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    if (value === null && preset === null) return [];
    return [[name, isMap(value) && isMap(preset) ? withoutGiven(value, preset) : value]];
  });
  return Object.fromEntries(fields);
}
