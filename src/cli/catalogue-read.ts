import {
  API_VERSION,
  type Extension,
  type ExtensionInstance,
  type KubeObject,
  readAs,
  type Sync,
} from '../api/index.ts';
import { ANNOTATION, LABEL } from '../api/names.ts';
import { originFiles } from '../declare/origin.ts';
import { createReader } from '../declare/reader.ts';
import type { FileTree } from '../git/tree.ts';
import { keyOf } from '../reconcile/store.ts';
import { activityOf } from '../resolve/when.ts';
import { type CatalogueOptions, catalogueFacts } from './catalogue.ts';
import { type Catalogue, type KnownInstance, keyOfInstance } from './known-catalogue.ts';

/** What a tree declares of the catalogue. */
export interface Declared {
  extensions: Extension[];
  instances: KnownInstance[];
  /** What is wrong with it, a line each. */
  faults: string[];
}

const FAULTS_SHOWN = 5;

/** What the cluster has; nothing of it where there is none. */
export async function ofCluster(options: CatalogueOptions): Promise<Catalogue> {
  const { client, kubernetes } = options;
  const facts = await catalogueFacts(options);
  const plugins = client === undefined ? [] : (await client.list({ apiVersion: API_VERSION, kind: 'Plugin' })).items;
  return {
    extensions: new Map(facts.extensions.map((extension) => [extension.metadata.name, extension])),
    instances: facts.instances.map(knownInstance),
    plugins: new Map(plugins.map((item) => [keyOf(item), readAs(item, 'Plugin')])),
    kubernetes,
    tags: ({ url }) => ({ unknown: `${url} was not asked` }),
    facts,
  };
}

export async function ofTree(tree: FileTree, sync: Sync): Promise<Declared> {
  const { metadata, spec } = sync;
  const namespace = metadata.namespace ?? '';
  const cluster = { name: spec.cluster?.name, labels: spec.cluster?.labels ?? {} };
  const found = await createReader().read(tree, { path: spec.repository.path, cluster, namespace });
  const lines = found.faults.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  const more = lines.length - FAULTS_SHOWN;
  return {
    extensions: found.objects.flatMap(({ object }) =>
      object.kind === 'Extension' ? [readAs(object, 'Extension')] : [],
    ),
    instances: found.objects.flatMap(({ object, parts }) =>
      object.kind === 'ExtensionInstance'
        ? [{ object: readAs(object, 'ExtensionInstance'), parts, isImplied: false }]
        : [],
    ),
    faults: [...lines.slice(0, FAULTS_SHOWN), ...(more > 0 ? [`${more} more faults: espalier validate`] : [])],
  };
}

/** A repository over what is in the cluster: of what its Sync wrote there, what the repository says now counts. */
export function together(declared: Declared, live: Catalogue, sync: Sync): Catalogue {
  const isForeign = ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[LABEL.sync] !== sync.metadata.name ||
    metadata.labels?.[LABEL.syncNamespace] !== sync.metadata.namespace;
  const foreign = [...live.extensions].filter(([, extension]) => isForeign(extension));
  const extensions = new Map([...foreign, ...declared.extensions.map((one) => [one.metadata.name, one] as const)]);
  const own = withImplied(declared, sync);
  // What an instance came to, and what a person approved, is known in the cluster.
  const there = new Map(live.instances.map(({ object }) => [keyOfInstance(object), object]));
  const instances = own.map((known) => {
    const { status, metadata } = there.get(keyOfInstance(known.object)) ?? {};
    if (metadata === undefined) return known;
    const annotations = { ...metadata.annotations, ...known.object.metadata.annotations };
    const object = { ...known.object, metadata: { ...known.object.metadata, annotations } };
    return { ...known, object: status === undefined ? object : { ...object, status } };
  });
  const keys = new Set(own.map(({ object }) => keyOfInstance(object)));
  const others = live.instances.filter(({ object }) => isForeign(object) && !keys.has(keyOfInstance(object)));
  return { ...live, extensions, instances: [...instances, ...others] };
}

function knownInstance(object: ExtensionInstance): KnownInstance {
  const { annotations = {} } = object.metadata;
  const files = originFiles(annotations[ANNOTATION.origin]);
  const isImplied = annotations[ANNOTATION.impliedBy] !== undefined;
  return { object, parts: files.map((file) => ({ file, line: 1 })), isImplied };
}

/** An extension for every cluster is installed by its own name, where the Sync is, unless an instance says how. */
function withImplied({ extensions, instances }: Declared, sync: Sync): KnownInstance[] {
  const explicit = new Set(instances.map(({ object }) => object.spec.extension));
  const labels = sync.spec.cluster?.labels ?? {};
  const implied = extensions.filter(
    ({ metadata, spec }) =>
      (spec.class === 'default' || spec.class === 'system') &&
      !explicit.has(metadata.name) &&
      activityOf(spec.when, { kubernetes: undefined, labels, windowOpen: true }).state === 'active',
  );
  return [
    ...instances,
    ...implied.map(({ metadata: { name } }) => {
      const metadata = { name, namespace: sync.metadata.namespace ?? '' };
      const object = { apiVersion: API_VERSION, kind: 'ExtensionInstance', metadata, spec: { extension: name } };
      return { object: readAs(object, 'ExtensionInstance'), parts: [], isImplied: true };
    }),
  ];
}
