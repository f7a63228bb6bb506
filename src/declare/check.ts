import { describeRef, type JsonObject, type KubeObject, kindDefinition, validateObject } from '../api/index.ts';
import type { Translation } from '../compat/kubegems.ts';
import { schemaViolations, valueViolations } from '../resolve/template-values.ts';
import { mergeValues } from '../resolve/values.ts';
import { type Draft, faultOf, type Part } from './drafts.ts';
import type { Fault, TextFault } from './fault.ts';
import { gitPathsOf } from './git-paths.ts';
import { asOurs } from './kubegems.ts';
import { isMap } from './merge.ts';
import { stepsOf } from './pointer.ts';

type Violation = Pick<TextFault, 'message'> & { path: string; expected: string };

/** Enough to correct an object by; a hostile one has millions. */
const MAX_FAULTS = 20;

const WRITTEN_BY_OTHERS = [
  'generateName',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'selfLink',
  'managedFields',
  'finalizers',
  'ownerReferences',
];

export type Checked =
  | {
      object: KubeObject;
      /** Where the declaration says what the object holds at a JSON pointer; absent where it is the same place. */
      pointerOf?: (pointer: string) => string;
    }
  | { faults: Fault[] };

/** Checks drafts, and each that didn't change since only once: validating a thousand takes a tenth of a second. */
export function rememberChecks(): (draft: Draft, value: JsonObject) => Checked {
  const good = new WeakMap<JsonObject, Extract<Checked, { object: KubeObject }> & { key: string }>();
  return (draft, value) => {
    const known = draft.faults.length === 0 ? good.get(value) : undefined;
    if (known?.key === draft.key) return known;
    const checked = checkDraft(draft, value);
    if ('object' in checked) good.set(value, { ...checked, key: draft.key });
    return checked;
  };
}

/** The object that a merged draft declares, or everything that is wrong with it. */
export function checkDraft(draft: Draft, value: JsonObject): Checked {
  if (draft.faults.length > 0) return { faults: draft.faults.slice(0, MAX_FAULTS) };
  const { status: _, ...declared } = value;
  const { creationTimestamp, ...metadata } = isMap(declared.metadata) ? declared.metadata : {};
  const object = {
    ...declared,
    metadata: {
      ...metadata,
      ...(creationTimestamp === undefined || creationTimestamp === null ? {} : { creationTimestamp }),
      ...(draft.ref.namespace === undefined ? {} : { namespace: draft.ref.namespace }),
    },
  } as unknown as KubeObject;
  const ours = asOurs(value);
  const wrong = ours === undefined ? validateObject(object) : 'faults' in ours ? ours.faults : [];
  const violations = [...wrong, ...foreignFields(object), ...scopeFault(object), ...parameterFaults(object)];
  if (violations.length === 0) return ours === undefined || 'faults' in ours ? { object } : inNamespace(ours, object);
  const hint = draft.added ? addedHint(draft) : '';
  const faults = violations
    .slice(0, MAX_FAULTS)
    .map((violation, index) => locateFault(draft, violation, index === 0 ? hint : ''));
  return { faults };
}

/** What was translated says the namespace as it was written, if at all. */
function inNamespace(
  { plugin, pointerOf }: Extract<Translation, { plugin: KubeObject }>,
  { metadata }: KubeObject,
): Checked {
  const { namespace } = metadata;
  const object = { ...plugin, metadata: { ...plugin.metadata, ...(namespace === undefined ? {} : { namespace }) } };
  return { object, pointerOf };
}

/** The latest layer that says something at this place is to blame; what nobody says is missing from the first. */
export function locateFault(draft: Draft, violation: Violation, hint = ''): Fault {
  const { path, message, expected } = violation;
  const object = describeRef(draft.ref);
  const places = draft.parts.map((part) => ({ part, place: part.locate(path) }));
  const { part, place } = places.findLast((one) => one.place.exact) ?? places[0] ?? nowhere(draft);
  const { line, column } = place;
  return faultOf(part, { line, column, path, message: `${message}${hint}`, expected }, object);
}

function nowhere(draft: Draft): never {
  throw new Error(`${draft.key} has no parts`);
}

function foreignFields(object: KubeObject): Violation[] {
  const metadata = WRITTEN_BY_OTHERS.filter((name) => Object.hasOwn(object.metadata, name)).map((name) => ({
    path: `/metadata/${name}`,
    message: `metadata.${name} is written by the cluster: leave it out`,
    expected: 'nothing',
  }));
  const sources = gitPathsOf(object).flatMap(({ pointer, source }) =>
    ['tree', 'commit']
      .filter((name) => Object.hasOwn(source, name))
      .map((name) => ({
        path: `${pointer}/${name}`,
        message: `${name} is written by the Sync: leave it out`,
        expected: 'nothing',
      })),
  );
  return [...metadata, ...sources];
}

function scopeFault(object: KubeObject): Violation[] {
  if (kindDefinition(object.kind)?.scope !== 'Cluster' || object.metadata.namespace === undefined) return [];
  const message = `metadata.namespace is given, but kind ${object.kind} is for the whole cluster: leave it out`;
  return [{ path: '/metadata/namespace', message, expected: 'nothing' }];
}

/** Of values that are written down: others may come from the Sync, ConfigMaps and Secrets. */
function parameterFaults({ spec }: KubeObject): Violation[] {
  const { schema, defaults, values } = isMap(spec) ? spec : {};
  if (!isMap(schema)) return [];
  const own = isMap(values) ? values : {};
  const all = mergeValues(isMap(defaults) ? defaults : {}, own);
  const wrong = valueViolations(schema, all, { isPartial: true }).map(({ path, ...rest }) => {
    return { ...rest, path: `/spec/${holds(own, stepsOf(path)) ? 'values' : 'defaults'}${path}` };
  });
  const broken = schemaViolations(schema).map((one) => ({ ...one, path: `/spec/schema${one.path}` }));
  return [...broken, ...wrong];
}

function holds(value: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return false;
  return holds(Reflect.get(value, step), rest);
}

/** Most often such an object is an overlay whose name or namespace has a slip. */
function addedHint(draft: Draft): string {
  const [first]: (Part | undefined)[] = draft.parts;
  return first === undefined
    ? ''
    : `; nothing below this overlay declares ${describeRef(draft.ref)}, so it must be whole`;
}
