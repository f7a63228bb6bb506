import {
  groupOf,
  type Json,
  type JsonObject,
  type KubeObject,
  type ManagedFieldsEntry,
  matchesTarget,
  type Target,
} from '../api/index.ts';
import { type FieldPath, parseElement, stepInto, valueAt } from './field-path.ts';
import { appliedFields, holdsPath, pathsOf } from './fields.ts';
import { asJson, fieldOf, isObject } from './json.ts';
import { coversPath, type Pointer, parsePointer, resolvePointer } from './pointer.ts';

/** One entry of `spec.drift.ignore`: fields that others may change. */
export interface IgnoreRule {
  readonly target?: Target;
  readonly paths: readonly string[];
}

/** What to send to the API server, and the only version of the live object that it may be sent against, if it matters. */
export interface AppliedForm {
  object: KubeObject;
  /** Send it as `metadata.resourceVersion`: an ignored value was copied from this version of the live object. */
  onlyAgainst?: string;
}

export function ignoredPointers(object: KubeObject, rules: readonly IgnoreRule[]): Pointer[] {
  return rules.filter((rule) => matchesTarget(object, rule.target)).flatMap((rule) => rule.paths.map(parsePointer));
}

export function isIgnored(path: FieldPath, pointers: readonly Pointer[], object: KubeObject): boolean {
  return pointers.some((pointer) => coversPath(pointer, path, asJson(object)));
}

/** Rules for what the given HorizontalPodAutoscalers own: the replicas of their targets. */
export function rulesOfAutoscalers(autoscalers: readonly KubeObject[]): IgnoreRule[] {
  return autoscalers.flatMap((autoscaler) => {
    const target = fieldOf(fieldOf(asJson(autoscaler), 'spec'), 'scaleTargetRef');
    const [apiVersion, kind, name] = ['apiVersion', 'kind', 'name'].map((field) => fieldOf(target, field));
    if (typeof kind !== 'string' || typeof name !== 'string') return [];
    const { namespace } = autoscaler.metadata;
    const rule: Target = { group: typeof apiVersion === 'string' ? groupOf(apiVersion) : '', kind, name };
    return [{ target: namespace === undefined ? rule : { ...rule, namespace }, paths: ['/spec/replicas'] }];
  });
}

/** Fields that an autoscaler is seen to own: the HPA controller writes them through the scale subresource. */
export function autoscaledPaths(managedFields: readonly ManagedFieldsEntry[] | undefined): FieldPath[] {
  const scaled = (managedFields ?? []).filter(
    (entry) => entry.subresource === 'scale' && entry.manager === 'kube-controller-manager',
  );
  return scaled.flatMap((entry) => pathsOf(entry.fieldsV1 ?? {}));
}

/**
 * The declaration without what others may change. A new object gets the declared values. Later, a field that somebody
 * else holds is left out. One that only we hold must not be left out, or the API server would remove it (replicas
 * would fall to 1): it is sent with its live value, against that version of the object only, so that it can't undo
 * a change made in between.
 */
export function withoutIgnored(
  declared: KubeObject,
  live: KubeObject | undefined,
  rules: readonly IgnoreRule[],
  manager: string,
): AppliedForm {
  const scaled = autoscaledPaths(live?.metadata.managedFields).map((path) =>
    path.map((element) => ('field' in element ? element.field : '*')),
  );
  const pointers = [...ignoredPointers(declared, rules), ...scaled];
  const places = distinctPlaces(pointers.flatMap((pointer) => resolvePointer(asJson(declared), pointer)));
  if (live === undefined || places.length === 0) return { object: declared };
  const object = structuredClone(declared);
  const ours = appliedFields(live.metadata.managedFields, manager)?.fields ?? {};
  const others = (live.metadata.managedFields ?? []).filter(
    (entry) => entry.manager !== manager || entry.operation !== 'Apply',
  );
  let isPinned = false;
  // From the end of each list, so that removing an item leaves the places before it as they are.
  for (const place of places.sort(comparePlaces).reverse()) {
    const path = pathOfPlace(ours, asJson(declared), place);
    const isShared = path !== undefined && others.some((entry) => holdsPath(entry.fieldsV1 ?? {}, path));
    const value = path === undefined || isShared ? undefined : valueAt(asJson(live), path);
    replaceAt(asJson(object), place, value);
    isPinned ||= value !== undefined;
  }
  const version = live.metadata.resourceVersion;
  return isPinned && version !== undefined ? { object, onlyAgainst: version } : { object };
}

/** Names and list indices from the root of an object. */
type Place = readonly (string | number)[];

/** How a set of fields names a place in an object; undefined when the set does not hold it. */
function pathOfPlace(fields: JsonObject, object: JsonObject, place: Place) {
  const path: FieldPath[number][] = [];
  let node: Json | undefined = fields;
  let value: Json | undefined = object;
  for (const step of place) {
    const names: string[] = isObject(node) ? Object.keys(node).filter((name) => name !== '.') : [];
    const child: Json | undefined = typeof step === 'number' ? listItem(value, step) : fieldOf(value, step);
    const name = names.find((one) =>
      typeof step === 'string' ? one === `f:${step}` : stepInto(value, parseElement(one)) === child,
    );
    if (name === undefined) return undefined;
    path.push(parseElement(name));
    node = fieldOf(node, name);
    value = child;
  }
  return path;
}

function listItem(value: Json | undefined, index: number): Json | undefined {
  return Array.isArray(value) ? value[index] : undefined;
}

function replaceAt(object: Json, place: Place, value: Json | undefined): void {
  const parent = place.slice(0, -1).reduce<Json | undefined>(stepAt, object);
  const last = place.at(-1);
  if (Array.isArray(parent) && typeof last === 'number') {
    if (value === undefined) parent.splice(last, 1);
    else parent[last] = value;
  } else if (isObject(parent) && typeof last === 'string') {
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
}

function stepAt(value: Json | undefined, step: string | number): Json | undefined {
  return typeof step === 'number' ? listItem(value, step) : fieldOf(value, step);
}

function distinctPlaces(places: readonly Place[]): Place[] {
  return [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
}

function comparePlaces(a: Place, b: Place): number {
  for (const [depth, step] of a.entries()) {
    const other = b[depth];
    if (other === undefined) return 1;
    if (step === other) continue;
    if (typeof step === 'number' && typeof other === 'number') return step - other;
    return String(step) < String(other) ? -1 : 1;
  }
  return a.length - b.length;
}
