import { type Json, type JsonObject, LABEL, type ObjectRef, type Plugin } from '../api/index.ts';
import { contentKey } from '../resolve/key.ts';
import { chartValues, templateValues } from '../resolve/values.ts';
import { valuesOf } from '../resolve/values-from.ts';
import type { Facts } from './facts.ts';
import { textsIn } from './hide-secrets.ts';

/** Raise it when rendering or finishing of objects changes: every key changes with it. */
const KEY_VERSION = 1;

export interface KnownInputs {
  state: 'known';
  key: string;
  values: JsonObject;
  /** What came from Secrets: it must not turn up in any message. */
  secrets: readonly string[];
}

export type InputsAnswer =
  | KnownInputs
  /** Something it needs is not there (yet). */
  | { state: 'waiting'; why: string };

/** What a ConfigMap or Secret that values come from holds, decoded; `absent` and `unknown` are different answers. */
export type ReadData = (ref: ObjectRef) => Readonly<Record<string, string>> | 'absent' | 'unknown';

/**
 * Everything that a Plugin's objects are made from, as one key, and the values. Same key, same objects: nothing to
 * render and nothing to send. What only decides *whether* and *when* (dependencies, gates, windows) is not part of it.
 */
export function inputsOf(
  plugin: Plugin,
  facts: Facts,
  readData: ReadData,
  parseDocument: (text: string) => JsonObject,
  ownTree?: string,
): InputsAnswer {
  const from: JsonObject[] = [];
  const secrets: string[] = [];
  for (const source of plugin.spec.valuesFrom ?? []) {
    const data = readData(valuesRef(plugin, source));
    if (data === 'unknown') return { state: 'waiting', why: `${source.kind} ${source.name} to be read` };
    const answer = valuesOf(source, data === 'absent' ? undefined : data, parseDocument);
    if (!answer.ok) return { state: 'waiting', why: answer.message };
    from.push(answer.values);
    if (source.kind === 'Secret' && data !== 'absent') secrets.push(...Object.values(data), ...textsIn(answer.values));
  }
  const { spec } = plugin;
  const { defaults, parameters } = spec;
  const layers = { defaults, global: facts.values, parameters, from, values: spec.values };
  const isChart = spec.kind !== 'manifests' && spec.kind !== 'expansion';
  const values = isChart ? chartValues(layers) : templateValues(layers);
  const templated =
    spec.kind !== 'kustomize' &&
    !(spec.kind === 'manifests' && (spec.source.git ?? spec.source.download)?.template !== true);
  const key = contentKey({
    version: KEY_VERSION,
    name: `${plugin.metadata.namespace}/${plugin.metadata.name}`,
    kind: spec.kind,
    source: contentOf(spec.source),
    ownTree,
    namespace: spec.namespace,
    patches: spec.patches,
    ignore: spec.drift?.ignore,
    apply: spec.apply,
    account: facts.account,
    images: facts.images,
    // Without rules nothing is done with them.
    imageFields: facts.images.length === 0 || facts.imageFields.length === 0 ? undefined : facts.imageFields,
    values: templated ? values : undefined,
    schema: templated ? spec.schema : undefined,
    kubernetes: templated && spec.kind !== 'expansion' ? facts.kubernetes : undefined,
    expansion: spec.kind === 'expansion' ? expansionOf(spec, facts) : undefined,
  });
  return { state: 'known', key, values, secrets };
}

/** What the Plugins of a package say beside what they are made of, and what decides whether there are any. */
function expansionOf(spec: Plugin['spec'], { delegateConditions, labels }: Facts): Record<string, unknown> {
  const { expansion, step, valuesFrom, values, defaults, parameters, drift, deletion, timeout } = spec;
  const passed = { valuesFrom, values, defaults, parameters, drift, deletion, timeout };
  return { expansion, step, passed, delegateConditions, role: labels[LABEL.role] };
}

/** The objects that values come from, to be watched. They are always of the Plugin's own namespace. */
export function valuesRefs(plugin: Plugin): ObjectRef[] {
  return (plugin.spec.valuesFrom ?? []).map((source) => valuesRef(plugin, source));
}

function valuesRef(plugin: Plugin, source: { kind: string; name: string }): ObjectRef {
  return { apiVersion: 'v1', kind: source.kind, namespace: plugin.metadata.namespace ?? '', name: source.name };
}

/**
 * What of a source decides the content. The folder's tree id says what it holds; which commit touched it last says nothing
 * more. Neither does the address of a download beside its digest.
 */
function contentOf(source: Plugin['spec']['source']): Json {
  const { git, download, ...rest } = source;
  if (download !== undefined)
    return { download: { path: download.path ?? null, template: download.template === true } };
  if (git === undefined) return rest as unknown as Json;
  const { commit: _, ref, ...content } = git;
  // So does the commit that a folder of another repository is held at.
  const followed = ref === undefined || ref.commit !== undefined ? {} : { ref };
  return { ...rest, git: { ...content, ...followed } } as unknown as Json;
}
