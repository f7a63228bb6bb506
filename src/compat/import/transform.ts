import type { Json, JsonObject } from '../../api/index.ts';
import { cleanPath } from './address.ts';
import type { Leave } from './imported.ts';
import { mergePatchesOf, patchesAt } from './patches.ts';
import { at, isMap, listAt, mapAt, textAt } from './read.ts';

/** What another tool does to a folder on its way into the cluster, as fields of a kustomization. */
export type Transformations = JsonObject;

/** Fields that Flux and Argo CD have in common, under kustomize's own names. */
const FIELDS = ['namePrefix', 'nameSuffix', 'patches', 'images', 'components', 'replicas'] as const;

/** Of Flux's Kustomization, or of `source.kustomize` of an Application. */
export function transformationsOf(spec: unknown): Transformations {
  const found: JsonObject = {};
  const namespace = textAt(spec, 'targetNamespace') ?? textAt(spec, 'namespace');
  if (namespace !== undefined) found.namespace = namespace;
  for (const field of FIELDS) {
    const value = at(spec, field);
    if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) continue;
    found[field] = field === 'images' ? listAt(spec, field).map(imageOf) : (value as Json);
  }
  const labels = mapAt(spec, 'commonMetadata', 'labels') ?? mapAt(spec, 'commonLabels');
  if (labels !== undefined) {
    const inSelectors = mapAt(spec, 'commonLabels') !== undefined && at(spec, 'labelWithoutSelector') !== true;
    found.labels = [{ pairs: labels, ...(inSelectors ? { includeSelectors: true } : {}) }];
  }
  const annotations = mapAt(spec, 'commonMetadata', 'annotations') ?? mapAt(spec, 'commonAnnotations');
  if (annotations !== undefined) found.commonAnnotations = annotations;
  return found;
}

/** Argo CD writes images as `kustomize edit set image` takes them: `name=other:tag`, `name@digest`. */
function imageOf(image: Json): Json {
  if (typeof image !== 'string') return image;
  const [, name = image, other = ''] = /^([^=]+)=(.*)$/.exec(image) ?? [undefined, undefined, image];
  const [, newName = '', newTag, digest] = /^(.*?)(?::([^/:@]+))?(?:@(.+))?$/.exec(other) ?? [];
  return {
    name: name === image ? newName : name,
    ...(name === image ? {} : { newName }),
    ...(newTag === undefined ? {} : { newTag }),
    ...(digest === undefined ? {} : { digest }),
  };
}

/** A kustomization that stands `depth` folders below the root and does this to a folder of the same repository. */
export function overlayOf(transformations: Transformations, path: string, depth: number): JsonObject | undefined {
  const { components, ...rest } = transformations;
  const up = '../'.repeat(depth);
  const inner = Array.isArray(components) ? components.map((one) => cleanPath(`${path}/${String(one)}`)) : [];
  if (inner.includes(undefined)) return undefined;
  return {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [path === '.' ? up.slice(0, -1) : `${up}${path}`],
    ...(inner.length === 0 ? {} : { components: inner.map((one) => `${up}${one}`) }),
    ...rest,
  };
}

export interface WithoutOverlay {
  patches: JsonObject[];
  namespace?: string;
}

/** The same where there can be no overlay: what a Plugin's own fields can do. The rest is listed. */
export function withoutOverlay(
  spec: unknown,
  transformations: Transformations,
  prefix: string,
  parseYaml: (text: string) => Json[],
  leave: Leave,
): WithoutOverlay {
  const result: WithoutOverlay = { patches: [] };
  for (const [index, patch] of patchesAt(spec, 'patches').entries()) {
    const outcome = mergePatchesOf(patch, parseYaml);
    if ('patches' in outcome) result.patches.push(...outcome.patches);
    else leave(`${prefix}.patches[${index}]`, `${outcome.why}: no merge patch does the same; patch it in its folder`);
  }
  const { namespace, patches: _, labels, commonAnnotations, ...others } = transformations;
  if (typeof namespace === 'string') result.namespace = namespace;
  const inSelectors = Array.isArray(labels) && at(labels[0], 'includeSelectors') === true;
  if (inSelectors) others.commonLabels = labels;
  const metadata = metadataOf(inSelectors ? undefined : labels, commonAnnotations);
  if (metadata !== undefined) result.patches.push({ target: {}, merge: { metadata } });
  for (const name of Object.keys(others))
    leave(`${prefix}.${name}`, 'put it into a kustomization in the folder itself');
  return result;
}

function metadataOf(labels: Json | undefined, annotations: Json | undefined): JsonObject | undefined {
  const pairs = Array.isArray(labels) ? mapAt(labels[0], 'pairs') : undefined;
  const metadata = {
    ...(pairs === undefined ? {} : { labels: pairs }),
    ...(isMap(annotations) ? { annotations } : {}),
  };
  return Object.keys(metadata).length === 0 ? undefined : metadata;
}
