import type { Plugin, ResolvedSource, Source } from '../api/index.ts';
import type { PackageSources } from '../expansion/expand.ts';
import type { PackageFiles } from '../expansion/package-files.ts';
import { treePackage } from '../expansion/tree-package.ts';
import { type FileTree, joinPath, splitPath } from '../git/tree.ts';

/** An expansion package, and how what it becomes refers to it. */
export interface ExpansionSource {
  files: PackageFiles;
  sources: PackageSources;
}

const COMMIT = /^[0-9a-f]{40,64}$/;

/**
 * A folder or .tgz in Git. In the repository of the Sync what it becomes follows the same path; in another it stays at the
 * commit that was read, so that nothing of a new version is there before its first hook has run.
 */
export async function packageInGit({ spec }: Plugin, tree: FileTree): Promise<ExpansionSource> {
  const { path = '.', url, ref, secretRef } = spec.source.git ?? {};
  const found = await treePackage(tree, path);
  const pinned = COMMIT.test(tree.commit) ? { commit: tree.commit } : ref;
  const at = {
    ...(url === undefined ? {} : { url, ...(pinned === undefined ? {} : { ref: pinned }) }),
    ...(secretRef === undefined ? {} : { secretRef }),
  };
  const clean = splitPath(path).join('/');
  const place = (file: string) =>
    found.form === 'folder' ? { path: joinPath(clean, file) } : { path: clean, inside: file };
  const ids = new Map<string, string>();
  for (const file of found.paths.filter((one) => one.startsWith('charts/'))) {
    const id = await tree.id(place(file).path);
    if (id !== undefined) ids.set(file, id);
  }
  const git = (fields: object): Source => ({ git: { ...fields, ...at } }) as Source;
  return {
    files: found,
    sources: {
      package: git({ path: clean === '' ? '.' : clean }),
      chart: (file) => git(place(file)),
      catalogue: (file) => git({ ...place(file), ...(url === undefined ? { tree: ids.get(file) } : {}) }),
    },
  };
}

/** An artifact in a registry: what it becomes stays with the digest that was read. */
export function packageInRegistry(
  { spec }: Plugin,
  files: PackageFiles,
  { version }: Pick<ResolvedSource, 'version'>,
): ExpansionSource {
  const at = { ...spec.source.oci, version, digest: files.id };
  const chart = (file: string): Source => ({ oci: { ...at, inside: file } }) as Source;
  return { files, sources: { package: { oci: at } as Source, chart, catalogue: chart } };
}
