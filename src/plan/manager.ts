import { FIELD_MANAGER, HELM_ANNOTATION, HELM_MANAGER, type KubeObject, LABEL } from '../api/index.ts';
import { fieldOf } from './json.ts';

/** The field manager that a declared object is applied with: Helm's own for what belongs to a release. */
export function managerFor(declared: KubeObject): string {
  return declared.metadata.annotations?.[HELM_ANNOTATION.release] === undefined ? FIELD_MANAGER : HELM_MANAGER;
}

/** The field manager in whose name a live object's fields are ours. Helm's own applies don't carry our label. */
export function managerOf(live: KubeObject): string {
  return managerFor(live) === HELM_MANAGER && isOurs(live, HELM_MANAGER) ? HELM_MANAGER : FIELD_MANAGER;
}

/** The manager that we applied an object with before it changed sides between a release and plain objects. */
export function formerManager(written: KubeObject, manager: string): string | undefined {
  const other = manager === HELM_MANAGER ? FIELD_MANAGER : HELM_MANAGER;
  return isOurs(written, other) ? other : undefined;
}

function isOurs({ metadata }: KubeObject, manager: string): boolean {
  const entry = metadata.managedFields?.find(
    (one) => one.manager === manager && one.operation === 'Apply' && (one.subresource ?? '') === '',
  );
  const labels = fieldOf(fieldOf(entry?.fieldsV1 ?? {}, 'f:metadata'), 'f:labels');
  return fieldOf(labels, `f:${LABEL.plugin}`) !== undefined;
}
