import { type Delegation, delegationName, type KubeObject, readDelegation } from '../api/index.ts';

/** The record that holds now, with what tells it from an earlier one of the same name. */
export interface Current {
  delegation: Delegation;
  uid: string;
}

/** Whose operator this is. One that knows its version answers for no other: the old one may still run when the new record is there. */
export interface Whose {
  expansion: string;
  version?: string;
}

/** Of the records the one that was made last: while a version takes another's place, both may be there. */
export function newestRecord(objects: Iterable<KubeObject>, { expansion, version }: Whose): Current | undefined {
  const own = version === undefined ? undefined : delegationName(expansion, version);
  const records = [...objects].flatMap((object) => {
    const delegation = readDelegation(object);
    const { name, deletionTimestamp, creationTimestamp = '', uid = '' } = object.metadata;
    if (own !== undefined && name !== own) return [];
    if (delegation?.expansion !== expansion || deletionTimestamp !== undefined) return [];
    return { delegation, uid, made: creationTimestamp };
  });
  const [newest] = records.sort((a, b) => compare(b.made, a.made) || byVersion(b.delegation, a.delegation));
  return newest;
}

/** Made in the same second: the higher version is the later one. */
function byVersion(a: Delegation, b: Delegation): number {
  return a.record.name.localeCompare(b.record.name, 'en', { numeric: true });
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
