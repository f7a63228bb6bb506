import { describeRef, EspalierError, refKey, refOf } from '../api/index.ts';
import { createMasker } from './mask.ts';
import { countActions, type ObjectPlan, type PluginPlan } from './object-plan.ts';
import { planDeclared } from './plan-declared.ts';
import type { PlanInput } from './plan-input.ts';
import { planRemoved } from './plan-removed.ts';

/**
 * What carrying out a Plugin's declaration would do, object by object. A function of its input and nothing else, so
 * a preview, a dry run and a real run say the same. It decides nothing about holds: see `holdRemovals`.
 */
export function planObjects(input: PlanInput): PluginPlan {
  const masker = createMasker(input.mask);
  const record = new Map(input.record.map((entry) => [refKey(entry), entry]));
  const keys = new Set<string>();
  const declared = input.desired.map((object) => {
    const key = refKey(refOf(object));
    if (keys.has(key)) throw new EspalierError('Internal', `${describeRef(refOf(object))} is in a plan twice`);
    keys.add(key);
    return planDeclared(object, record.get(key), input, masker);
  });
  const { objects: removed, gone } = planRemoved(input, keys);
  const objects = [...declared, ...removed];
  return { plugin: input.plugin, objects, gone, counts: countActions(objects), warnings: warningsOf(objects) };
}

function warningsOf(objects: readonly ObjectPlan[]): string[] {
  return objects.flatMap((object) => {
    const name = describeRef(object.ref);
    if (object.action === 'keep' && object.reason === 'agent') {
      return [`${name} left the repository but is not removed: ${object.why}`];
    }
    if (object.action === 'create' && object.after !== undefined) {
      const { finalizers } = object.after;
      const by = finalizers.length === 0 ? '' : ` (held by finalizers ${finalizers.join(', ')})`;
      return [`${name} is being deleted${by}; it is created again when that is done`];
    }
    return [];
  });
}
