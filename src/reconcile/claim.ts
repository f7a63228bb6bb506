import { ANNOTATION, type KubeObject, LABEL, type Plugin, type Sync } from '../api/index.ts';
import type { Wanted } from './wanted.ts';

/**
 * Why a Sync must leave an object of ours alone that exists: another Sync wrote it, or a person did. Undefined where it
 * may write. `letGo` says whether another Sync is gone, or has given the object up.
 */
export function whyNotOurs(
  live: KubeObject,
  wanted: Wanted,
  sync: Sync,
  letGo: (owner: string) => boolean,
): string | undefined {
  const labels = live.metadata.labels ?? {};
  const [name, namespace] = [labels[LABEL.sync], labels[LABEL.syncNamespace]];
  if (name === sync.metadata.name && namespace === sync.metadata.namespace) return undefined;
  if (name === undefined) {
    const adopt = [live, wanted.object].some((object) => object.metadata.annotations?.[ANNOTATION.adopt] === 'true');
    return adopt
      ? undefined
      : `it exists already and no Sync wrote it; to take it over, annotate it with ${ANNOTATION.adopt}: "true"`;
  }
  const owner = `${namespace}/${name}`;
  return letGo(owner) ? undefined : `Sync ${owner} declares it already, and keeps it`;
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
