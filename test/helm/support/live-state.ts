import { API_VERSION, GROUP, isError, type KubeObject, type ManagedFieldsEntry } from '../../../src/api/index.ts';
import type { ApiResource, KubeClient } from '../../../src/cluster/client.ts';

/** Made by controllers from what a release holds, under names of chance, or by nobody's declaration. */
const DERIVED = new Set([
  'Event',
  'Lease',
  'Pod',
  'PodMetrics',
  'ReplicaSet',
  'ControllerRevision',
  'Endpoints',
  'EndpointSlice',
]);
const CLUSTER_KINDS = new Set(['ClusterRole', 'ClusterRoleBinding', 'CustomResourceDefinition']);
const BY_EVERYBODY = new Set(['ConfigMap kube-root-ca.crt', 'ServiceAccount default']);
/** What a controller writes into an object at its own time. */
const CONTROLLERS = /^(kube-|kwok|Go-http-client|k8s-|helm-)/;

/** What one installation left in the cluster, by kind and name, in words that two installations have in common. */
export async function liveState(client: KubeClient, place: Place): Promise<Record<string, unknown>> {
  const kinds = await listedKinds(client, place);
  const lists = await Promise.all(kinds.map((kind) => objectsOf(client, kind, place)));
  const state: Record<string, unknown> = {};
  for (const object of lists.flat()) {
    const name = neutral(`${object.kind} ${object.metadata.name}`, place);
    if (BY_EVERYBODY.has(name) || isRecord(object)) continue;
    state[name] = JSON.parse(neutral(JSON.stringify(essence(object)), place));
  }
  return state;
}

export interface Place {
  namespace: string;
  /** The API group of this installation. */
  group: string;
}

export function neutral(text: string, { namespace, group }: Place): string {
  return text.replaceAll(namespace, 'NAMESPACE').replaceAll(group, 'GROUP');
}

type ListedKind = Pick<ApiResource, 'apiVersion' | 'kind' | 'namespaced'>;

interface Definition extends KubeObject {
  spec: { group: string; names: { kind: string }; scope: string; versions: { name: string }[] };
}

async function listedKinds(client: KubeClient, { group }: Place): Promise<ListedKind[]> {
  const all = await client.resources({ partial: true });
  const general = all.filter(
    ({ apiVersion, kind, namespaced, verbs }) =>
      verbs.includes('list') &&
      !DERIVED.has(kind) &&
      !apiVersion.includes('example.com') &&
      apiVersion !== API_VERSION &&
      (namespaced || CLUSTER_KINDS.has(kind)),
  );
  return [...general, ...(await ownKinds(client, group))];
}

/** From the definitions themselves: the client's list of all kinds may be seconds older than they are. */
async function ownKinds(client: KubeClient, ownGroup: string): Promise<ListedKind[]> {
  const { items } = await client.list({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' });
  const own = (items as Definition[]).filter(({ spec }) => spec.group.includes(ownGroup));
  return own.flatMap(({ spec: { group, names, scope, versions } }) =>
    versions.map(({ name }) => ({
      apiVersion: `${group}/${name}`,
      kind: names.kind,
      namespaced: scope === 'Namespaced',
    })),
  );
}

async function objectsOf(
  client: KubeClient,
  { apiVersion, kind, namespaced }: ListedKind,
  place: Place,
): Promise<KubeObject[]> {
  try {
    const target = namespaced ? { apiVersion, kind, namespace: place.namespace } : { apiVersion, kind };
    const { items } = await client.list(target);
    if (namespaced) return items;
    return items.filter(({ metadata: { name } }) => name.includes(place.namespace) || name.includes(place.group));
  } catch (error) {
    // Kinds of other tests come and go.
    if (isError(error, 'KubeKindUnknown', 'KubeNotFound')) return [];
    throw error;
  }
}

function isRecord(object: KubeObject): boolean {
  return (object as { type?: string }).type === 'helm.sh/release.v1';
}

/** Status is what controllers found; a time, a uid or a version says nothing of what was declared. */
function essence(object: KubeObject): unknown {
  const { kind } = object;
  const { metadata, status: _, ...rest } = object as KubeObject & { status?: unknown };
  const { labels, annotations, finalizers, ownerReferences, managedFields = [] } = metadata;
  const owners = ownerReferences?.map(({ kind, name }) => `${kind} ${name}`);
  const { spec } = rest as { spec?: unknown };
  const ownLabels = kind === 'Job' ? withoutTemplates(labels, spec) : labels;
  const whole = spec === undefined ? rest : { ...rest, spec: withoutChance(kind, spec) };
  return {
    ...whole,
    metadata: clean({ labels: ofOthers(ownLabels), annotations: ofOthers(annotations), finalizers, owners }),
    managers: kind === 'CustomResourceDefinition' ? 'whoever applies them' : managersOf(managedFields),
  };
}

/** The API server gives a Job the labels of its pods, unless it has any label. */
function withoutTemplates(labels: Record<string, string> = {}, spec: unknown): Record<string, string> {
  const { template } = (spec ?? {}) as { template?: { metadata?: { labels?: Record<string, string> } } };
  const ofPods = template?.metadata?.labels ?? {};
  return Object.fromEntries(Object.entries(labels).filter(([key, value]) => ofPods[key] !== value));
}

function clean(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

function ofOthers(map: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !isOurs(key) && !isChance(key)));
}

function isOurs(key: string): boolean {
  return key.startsWith(`${GROUP}/`);
}

/** Of a Job: who its pods are of; of an autoscaler: what its controller thinks. */
function isChance(key: string): boolean {
  return /(^|\/)(controller-uid|deprecated\.daemonset\.template\.generation)$|^autoscaling\.alpha\./.test(key);
}

/** Addresses that the cluster gives out, and labels by uid. */
function withoutChance(kind: string, spec: unknown): unknown {
  const text = JSON.stringify(spec).replace(/"((?:batch\.kubernetes\.io\/)?controller-uid)":"[^"]*"/g, '"$1":"<any>"');
  const parsed: unknown = JSON.parse(text);
  if (kind !== 'Service' || typeof parsed !== 'object' || parsed === null) return parsed;
  const { clusterIP, clusterIPs: _, ...others } = parsed as Record<string, unknown>;
  return { ...others, headless: clusterIP === 'None' };
}

/** `helm Apply` → the paths of its fields. Text of a Secret is kept as data, whichever way it came. */
function managersOf(entries: readonly ManagedFieldsEntry[]): Record<string, Record<string, string>> {
  const found: Record<string, Record<string, string>> = {};
  for (const { manager = '', operation = '', subresource, fieldsV1 = {} } of entries) {
    if (subresource !== undefined || CONTROLLERS.test(manager)) continue;
    const paths = pathsOf(fieldsV1).map((path) => path.replace(/^\/stringData/, '/data'));
    found[`${manager} ${operation}`] = Object.fromEntries(paths.sort().map((path) => [path, 'managed']));
  }
  return found;
}

function pathsOf(fields: Record<string, unknown>, path = ''): string[] {
  return Object.entries(fields).flatMap(([key, below]) => {
    if (isOurs(key.replace(/^f:/, ''))) return [];
    const here = key === '.' ? path : `${path}/${key.replace(/^f:/, '')}`;
    const isLeaf = typeof below !== 'object' || below === null || Object.keys(below).length === 0;
    return isLeaf ? [here] : pathsOf(below as Record<string, unknown>, here);
  });
}
