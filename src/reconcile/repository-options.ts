import { type KubeObject, type ObjectRef, parseDuration } from '../api/index.ts';
import { credentialsFromSecret } from '../git/credentials.ts';
import type { RepositoryOptions } from '../git/repository.ts';
import { pickVersion } from '../resolve/pick-version.ts';
import { secretData } from './secret-data.ts';

/** How a Sync or a Plugin names a repository. */
export interface GitSpec {
  url: string;
  secretRef?: { name: string };
  caRef?: { kind: string; name: string; key: string };
  proxy?: string;
  timeout?: string;
}

/** An object that options refer to, as it was found. */
export type FoundObject = readonly [ref: ObjectRef, object: KubeObject];

/** The Secrets and ConfigMaps that opening a repository takes, to be watched before. */
export function repositoryRefs(namespace: string, { secretRef, caRef }: GitSpec): ObjectRef[] {
  const refs: ObjectRef[] = [];
  if (secretRef !== undefined) refs.push({ apiVersion: 'v1', kind: 'Secret', namespace, name: secretRef.name });
  if (caRef !== undefined) refs.push({ apiVersion: 'v1', kind: caRef.kind, namespace, name: caRef.name });
  return refs;
}

/** How to open a repository, of what it refers to. Where it may lead, and its folder, are for the caller to say. */
export function repositoryOptionsOf(spec: GitSpec, found: readonly FoundObject[]): Omit<RepositoryOptions, 'dir'> {
  const { url, secretRef, proxy, timeout = '1m' } = spec;
  const secret = found.find(([ref]) => ref.kind === 'Secret' && ref.name === secretRef?.name)?.[1];
  const caBundle = caBundleOf(spec, found);
  return {
    url,
    pickTag: (tags, range) => {
      const picked = pickVersion(tags, range);
      return picked.ok ? picked.version : undefined;
    },
    timeoutMs: parseDuration(timeout),
    ...(secret === undefined ? {} : { credentials: credentialsFromSecret(secretData(secret), url) }),
    ...(caBundle === undefined ? {} : { caBundle }),
    ...(proxy === undefined ? {} : { proxy: { url: proxy } }),
  };
}

export function caBundleOf({ caRef }: Pick<GitSpec, 'caRef'>, found: readonly FoundObject[]): string | undefined {
  if (caRef === undefined) return undefined;
  const object = found.find(([ref]) => ref.kind === caRef.kind && ref.name === caRef.name)?.[1];
  return object === undefined ? undefined : secretData(object)[caRef.key];
}
