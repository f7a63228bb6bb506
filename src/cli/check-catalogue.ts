import { type Extension, type ExtensionInstance, type Plugin, readAs, type Sync } from '../api/index.ts';
import type { CatalogueFacts } from '../reconcile/catalogue-facts.ts';
import { keyOf } from '../reconcile/store.ts';
import type { Tags } from '../resolve/extension-versions.ts';
import { buildGraph } from '../resolve/graph.ts';
import { type KubernetesTarget, limitOfKnowledge, minorOf } from '../resolve/served-apis.ts';
import { checkInstances } from './check-instances.ts';
import type { Check, Checked } from './check-model.ts';
import { presenceFinding } from './check-plugin.ts';
import type { RenderedPlugin } from './check-render.ts';

/** Everything that a check is about, from a cluster or a repository. */
export interface Subjects {
  extensions: readonly Extension[];
  instances: readonly ExtensionInstance[];
  /** Instances in the cluster that are not checked. */
  others: readonly ExtensionInstance[];
  plugins: readonly Plugin[];
  /** Plugins in the cluster, by key. */
  live: ReadonlyMap<string, Plugin>;
  tags: CatalogueFacts['tags'];
  /** `gitVersion` of the cluster; undefined without one. */
  from: string | undefined;
  to: KubernetesTarget;
  /** What to tell about; undefined: everything. */
  namespace: string | undefined;
}

export interface CheckMeans {
  syncOf(plugin: Plugin): Sync;
  /** Renders for the other release. */
  render(plugins: readonly Plugin[]): Promise<Map<string, RenderedPlugin>>;
}

/** Instances with the Plugins that they become, and all other Plugins, in the order of their dependencies. */
export async function checkCatalogue(subjects: Subjects, { syncOf, render }: CheckMeans): Promise<Check> {
  const { from, to, live, namespace } = subjects;
  const outcomes = checkInstances({ ...subjects, tags: await tagsFor(subjects) });
  const plugins = new Map(subjects.plugins.map((plugin) => [keyOf(plugin), plugin]));
  const items = new Map<string, Checked>();
  for (const [key, { item, plugin }] of outcomes) {
    items.set(key, item);
    if (plugin !== undefined) plugins.set(key, asDeclared(plugin, live.get(key)));
  }
  for (const [key, plugin] of plugins) if (!items.has(key)) items.set(key, pluginItem(plugin, live.get(key)));
  const isMeant = (one: { metadata: { namespace?: string } }) =>
    namespace === undefined || one.metadata.namespace === namespace;
  const chosen = [...plugins.values()].filter(isMeant);
  for (const plugin of chosen) {
    const finding = presenceFinding(plugin, { sync: syncOf(plugin), from, to });
    if (finding !== undefined) items.get(keyOf(plugin))?.findings.push(finding);
  }
  for (const [key, { findings, version }] of await render(chosen)) {
    const item = items.get(key);
    item?.findings.push(...findings);
    if (item?.kind === 'Plugin' && version !== undefined) item.after = version;
  }
  return {
    ...{ from, to, faults: [] },
    items: inOrder(items, plugins).filter((item) => isMeant({ metadata: item })),
    notes: notesOn(from, to),
  };
}

/** Asks every registry whose tags are versions of an extension, as the namespace of its first instance may read it. */
async function tagsFor({ extensions, instances, tags }: Subjects): Promise<Tags> {
  const answers = new Map<string, readonly string[] | { unknown: string }>();
  for (const { metadata, spec } of extensions) {
    const first = instances.find((one) => one.spec.extension === metadata.name);
    if (first === undefined) continue;
    for (const { tagsFollow, source } of spec.versions)
      if (tagsFollow !== undefined && source.oci !== undefined)
        answers.set(source.oci.url, await tags(first.metadata.namespace ?? '', source.oci));
  }
  return ({ url }) => answers.get(url) ?? { unknown: `${url} was not asked` };
}

/** As the Sync that wrote what is installed would write it: its labels say whose settings hold. */
function asDeclared(declaration: Parameters<typeof readAs>[0], live: Plugin | undefined): Plugin {
  const { metadata } = declaration;
  const labels = { ...live?.metadata.labels, ...metadata.labels };
  const status = live?.status === undefined ? {} : { status: live.status };
  return readAs({ ...declaration, ...status, metadata: { ...metadata, labels } }, 'Plugin');
}

function pluginItem(plugin: Plugin, live: Plugin | undefined): Checked {
  const { name, namespace = '' } = plugin.metadata;
  const version = live?.status?.revision?.version;
  return { kind: 'Plugin', namespace, name, findings: [], ...(version === undefined ? {} : { before: version }) };
}

function inOrder(items: ReadonlyMap<string, Checked>, plugins: ReadonlyMap<string, Plugin>): Checked[] {
  const nodes = [...items].map(([key, { namespace, name }]) => {
    const dependsOn = plugins.get(key)?.spec.dependsOn ?? [];
    return { namespace, name, dependsOn };
  });
  return buildGraph(nodes).order.flatMap((key) => items.get(key) ?? []);
}

function notesOn(from: string | undefined, to: KubernetesTarget): string[] {
  const minor = from === undefined ? undefined : minorOf(from);
  const limit = limitOfKnowledge(to.minor);
  const notes = limit === undefined ? [] : [limit];
  if (minor !== undefined && to.minor > minor + 1)
    notes.push(`Kubernetes is upgraded one minor version at a time: check 1.${minor + 1} too`);
  if (minor !== undefined && to.minor < minor)
    notes.push(`the cluster runs ${from}, which is newer than ${to.release}`);
  return notes;
}
