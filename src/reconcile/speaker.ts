import type { Sync } from '../api/index.ts';
import { type Contexts, contextsOf } from '../report/contexts.ts';
import { keyOf } from './store.ts';

/**
 * Under which names a Sync speaks on a forge. Two Syncs of one cluster that follow one repository must not write over
 * each other: the older keeps the name, the younger adds its own.
 */
export function contextsFor(sync: Sync, others: Iterable<Sync>): Contexts {
  return contextsOf(speakerOf(sync, others), sync.metadata.namespace ?? '');
}

export function speakerOf(sync: Sync, others: Iterable<Sync>): string {
  const name = nameOf(sync);
  const rivals = [...others].filter(
    (other) =>
      keyOf(other) !== keyOf(sync) &&
      other.spec.forge !== undefined &&
      other.spec.repository.url === sync.spec.repository.url &&
      nameOf(other) === name,
  );
  if (rivals.every((other) => ageOf(sync) < ageOf(other))) return name;
  const isAlone = rivals.every((other) => other.metadata.name !== sync.metadata.name);
  return `${name}:${isAlone ? sync.metadata.name : `${sync.metadata.namespace}.${sync.metadata.name}`}`;
}

function nameOf({ metadata, spec }: Sync): string {
  return spec.forge?.name ?? spec.cluster?.name ?? metadata.name;
}

function ageOf(sync: Sync): string {
  return `${sync.metadata.creationTimestamp ?? ''} ${keyOf(sync)}`;
}
