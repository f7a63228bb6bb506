import { ANNOTATION, type KubeObject, type Plugin, type Sync } from '../api/index.ts';
import { describeOwner, ownerOf, SYNC_OWNER } from '../plan/ownership.ts';
import { keyOf } from './store.ts';
import type { Wanted } from './wanted.ts';

/**
 * Why a Sync must leave an object of ours alone that exists: another Sync wrote it, a Plugin renders it, or a person made
 * it. Undefined where it may write. `letGo` says whether another owner (`ownerOf`) is gone, or has given the object up.
 */
export function whyNotOurs(
  live: KubeObject,
  wanted: Wanted,
  sync: Sync,
  letGo: (owner: string) => boolean,
): string | undefined {
  const owner = ownerOf(live);
  if (owner === `${SYNC_OWNER}${keyOf(sync)}`) return undefined;
  if (owner === undefined) {
    const adopt = [live, wanted.object].some((object) => object.metadata.annotations?.[ANNOTATION.adopt] === 'true');
    return adopt
      ? undefined
      : `it exists already and no Sync wrote it; to take it over, annotate it with ${ANNOTATION.adopt}: "true"`;
  }
  return letGo(owner) ? undefined : `${describeOwner(owner)} declares it already, and keeps it`;
}

/** A Plugin with the commit that last touched what it is made of: that stays when the inputs do. */
export function withCommit({ object, inputs }: Wanted, commit: string, live: Plugin | undefined): KubeObject {
  if (object.kind !== 'Plugin') return object;
  const { source } = (object as unknown as Plugin).spec;
  const isSame = live?.metadata.annotations?.[ANNOTATION.inputs] === inputs;
  const since = (isSame ? live?.metadata.annotations?.[ANNOTATION.commit] : undefined) ?? commit;
  const annotations = { ...object.metadata.annotations, [ANNOTATION.commit]: since };
  const metadata = { ...object.metadata, annotations };
  const { git } = source;
  if (git === undefined || git.url !== undefined) return { ...object, metadata };
  return {
    ...object,
    metadata,
    spec: { ...(object.spec as object), source: { ...source, git: { ...git, commit: since } } },
  };
}
