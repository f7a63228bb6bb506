import { EspalierError, type ObjectRef, type Sync } from '../api/index.ts';
import type { ForgeOptions } from '../forge/open-forge.ts';
import { caBundleOf, type FoundObject, repositoryRefs } from './repository-options.ts';
import { secretData } from './secret-data.ts';

/** The Secrets and ConfigMaps that opening the forge of a Sync takes, to be watched before; none where it has no forge. */
export function forgeRefs({ metadata, spec }: Sync): ObjectRef[] {
  const { caRef, url } = spec.repository;
  if (spec.forge === undefined) return [];
  const of = { url, secretRef: spec.forge.secretRef, ...(caRef === undefined ? {} : { caRef }) };
  return repositoryRefs(metadata.namespace ?? '', of);
}

/** How to open the forge of a Sync, of what `forgeRefs` names. Undefined where it has none. */
export function forgeOptionsOf(
  { spec }: Sync,
  found: readonly FoundObject[],
): Omit<ForgeOptions, 'policy' | 'now' | 'gates'> | undefined {
  const { forge, repository } = spec;
  if (forge === undefined) return undefined;
  const secret = found.find(([ref]) => ref.kind === 'Secret' && ref.name === forge.secretRef.name)?.[1];
  return {
    kind: forge.kind,
    repositoryUrl: repository.url,
    url: forge.url,
    secret: secret === undefined ? {} : secretData(secret),
    caBundle: caBundleOf(repository, found),
    proxy: repository.proxy === undefined ? undefined : { url: repository.proxy },
  };
}

export function missingForForge({ kind, namespace, name }: ObjectRef): EspalierError {
  const message = `there is no ${kind} ${name} in namespace ${namespace}, which spec.forge of the Sync needs; make it, or name another one`;
  return new EspalierError('ForgeAuthFailed', message);
}
