import { ANNOTATION, type InventoryEntry, type KubeObject, refKey, refOf } from '../api/index.ts';
import { abandonedFields } from './abandoned.ts';
import { changesBetween, changesFromDeclared, declarable, type FieldChange } from './changes.ts';
import { holderOf } from './holder.ts';
import { managerFor } from './manager.ts';
import type { Masker } from './mask.ts';
import type { ObjectPlan, OutcomeOf } from './object-plan.ts';
import { hasRun, type OnceWish, whyAnew } from './once.ts';
import { describeOwner, ownershipOf, SYNC_OWNER, terminatingOf } from './ownership.ts';
import type { PlanInput, Prediction } from './plan-input.ts';

/** What happens to an object that the Plugin declares. */
export function planDeclared(
  declared: KubeObject,
  entry: InventoryEntry | undefined,
  input: PlanInput,
  masker: Masker,
): ObjectPlan {
  const ref = refOf(declared);
  const key = refKey(ref);
  const live = input.live.get(key);
  const prediction = input.predicted?.get(key);
  const once = input.once?.get(key);
  const ran = once === undefined || entry === undefined ? undefined : alreadyRan(entry, once);
  if (ran !== undefined) return { key, ref, ...ran };
  if (live === undefined) {
    const first = entry === undefined ? input.recordedElsewhere?.(key) : undefined;
    if (first !== undefined) return { key, ref, ...declaredElsewhere(first) };
    const refusal = refusalOf(prediction, declared, input, masker);
    if (refusal !== undefined) return { key, ref, ...refusal };
    const object = declarable(masker.mask(predictedObject(prediction) ?? declared));
    return { key, ref, action: 'create', object, ...(input.ensure?.has(key) === true ? { ensure: true } : {}) };
  }

  const claim = claimOn(live, declared, entry, input);
  if ('action' in claim) return { key, ref, ...claim };
  const terminating = terminatingOf(live);
  if (terminating !== undefined) {
    return { key, ref, action: 'create', object: declarable(masker.mask(declared)), after: terminating };
  }
  const fields = fieldChanges(live, declared, prediction, masker);
  const isForeign = claim.adopt && claim.from === undefined;
  const anew = once === undefined || isForeign ? undefined : whyAnew(live, entry, once, fields);
  if (anew !== undefined) {
    const replaces = { uid: live.metadata.uid ?? '', why: anew };
    return { key, ref, action: 'create', object: declarable(masker.mask(declared)), replaces };
  }
  const refusal = refusalOf(prediction, declared, input, masker);
  if (refusal !== undefined) return { key, ref, ...refusal };
  if (claim.adopt)
    return { key, ref, action: 'adopt', ...(claim.from === undefined ? {} : { from: claim.from }), fields };
  return fields.length === 0 ? { key, ref, action: 'unchanged', isOurs: true } : { key, ref, action: 'change', fields };
}

function alreadyRan(entry: InventoryEntry, { key, changed }: OnceWish): OutcomeOf<'unchanged'> | undefined {
  const at = hasRun(entry, key) ? entry.once?.at : undefined;
  if (at === undefined) return undefined;
  return { action: 'unchanged', isOurs: true, once: { key, at, ...(changed ? { changed } : {}) } };
}

/** Whether we may write to a live object: it is ours, or may be adopted. Otherwise what the plan says instead. */
function claimOn(
  live: KubeObject,
  declared: KubeObject,
  entry: InventoryEntry | undefined,
  input: PlanInput,
): { adopt: boolean; from?: string } | OutcomeOf<'conflict' | 'unchanged'> {
  const key = refKey(refOf(declared));
  const needsOnlyExist = input.ensure?.has(key) === true;
  const ownership = ownershipOf(live, entry, `${input.plugin.namespace}/${input.plugin.name}`);
  switch (ownership.whose) {
    case 'ours':
      return { adopt: false };
    case 'other':
      if (input.ownerStillDeclares?.(ownership.owner, key) === false) return { adopt: true, from: ownership.owner };
      return needsOnlyExist ? { action: 'unchanged', isOurs: false } : declaredElsewhere(ownership.owner);
    case 'nobody':
      if (needsOnlyExist) return { action: 'unchanged', isOurs: false };
      if (input.rules.adopt || asksForAdoption(live) || asksForAdoption(declared)) return { adopt: true };
      return {
        action: 'conflict',
        with: holderOf(live),
        why: `it exists and no plugin declares it; to take it over, set spec.apply.adopt or annotate it with ${ANNOTATION.adopt}=true`,
      };
  }
}

function declaredElsewhere(owner: string): OutcomeOf<'conflict'> {
  return {
    action: 'conflict',
    with: describeOwner(owner),
    why: `that ${owner.startsWith(SYNC_OWNER) ? 'Sync' : 'plugin'} declared it first; declare it in one of the two`,
  };
}

function asksForAdoption(object: KubeObject): boolean {
  return object.metadata.annotations?.[ANNOTATION.adopt] === 'true';
}

function refusalOf(
  prediction: Prediction | undefined,
  declared: KubeObject,
  { rules }: PlanInput,
  masker: Masker,
): OutcomeOf<'conflict' | 'refused'> | undefined {
  if (prediction === undefined || isObjectPrediction(prediction)) return undefined;
  if ('refused' in prediction) return { action: 'refused', message: masker.scrub(prediction.refused, declared) };
  if (rules.force) return undefined;
  const fields = [...prediction.conflicts];
  return {
    action: 'conflict',
    with: [...new Set(fields.map((field) => field.manager))].join(', '),
    why: 'it holds fields that this plugin declares; to take them over, set spec.apply.force',
    fields,
  };
}

function fieldChanges(
  live: KubeObject,
  declared: KubeObject,
  prediction: Prediction | undefined,
  masker: Masker,
): FieldChange[] {
  const before = masker.mask(live);
  const predicted = predictedObject(prediction);
  if (predicted !== undefined) return changesBetween(before, masker.mask(predicted));
  const after = masker.mask(declared);
  return [...changesFromDeclared(before, after), ...abandonedFields(before, after, managerFor(declared))];
}

function predictedObject(prediction: Prediction | undefined): KubeObject | undefined {
  return prediction !== undefined && isObjectPrediction(prediction) ? prediction : undefined;
}

function isObjectPrediction(prediction: Prediction): prediction is KubeObject {
  return 'apiVersion' in prediction;
}
