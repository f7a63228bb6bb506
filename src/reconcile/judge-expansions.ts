import { describeRef, isError, type Plugin, refOf, type Sync, type SyncFault } from '../api/index.ts';
import type { Declared } from '../declare/declarations.ts';
import { cleanPath } from '../declare/git-paths.ts';
import { faultsHere } from '../expansion/faults-here.ts';
import { readPackage } from '../expansion/read-package.ts';
import { treePackage } from '../expansion/tree-package.ts';
import type { FileTree } from '../git/tree.ts';
import { activityOf } from '../resolve/when.ts';
import { isExpansion, isOlder } from './expansion-rivals.ts';
import { keyOf } from './store.ts';
import type { Wanted } from './wanted.ts';

export interface JudgeInput {
  sync: Sync;
  tree: FileTree;
  kubernetes: string | undefined;
  wanted: readonly Wanted[];
  declaredBy: ReadonlyMap<string, Declared>;
  /** Every Plugin in the cluster. */
  plugins: readonly Plugin[];
}

/** What speaks against the expansion packages of a revision, by the key of their declaration. */
export async function judgeExpansions(input: JudgeInput): Promise<Map<string, SyncFault[]>> {
  const { sync, tree, kubernetes, wanted, declaredBy, plugins } = input;
  const labels = sync.spec.cluster?.labels ?? {};
  const found: Candidate[] = wanted.flatMap(({ key, object }) => {
    const plugin = object as unknown as Plugin;
    const declared = declaredBy.get(key);
    if (object.kind !== 'Plugin' || !isExpansion(plugin) || declared === undefined) return [];
    const { enabled, when } = plugin.spec;
    const isHere = activityOf(when, { kubernetes, labels, windowOpen: true }).state !== 'inactive';
    return enabled === false || !isHere ? [] : [{ plugin, declared }];
  });
  const faults = new Map<string, SyncFault[]>();
  for (const one of found) {
    const wrong = await faultsOf(one, sync, tree);
    if (wrong.length > 0) faults.set(one.declared.key, wrong);
  }
  const live = new Map(plugins.filter(isExpansion).map((plugin) => [keyOf(plugin), plugin]));
  const [first, ...others] = found.toSorted((a, b) => isOlder(standing(a, live), standing(b, live)));
  for (const { plugin, declared } of first === undefined ? [] : others) {
    const { file, line } = first?.declared.origin ?? declared.origin;
    const message = `expansion ${keyOf(plugin)} can't be installed beside ${keyOf(first?.plugin ?? plugin)} (${file}:${line}): a cluster takes one at a time; remove one of them`;
    faults.set(declared.key, [...(faults.get(declared.key) ?? []), placed(declared, message)]);
  }
  return faults;
}

interface Candidate {
  plugin: Plugin;
  declared: Declared;
}

/** What is in the cluster already came first. */
function standing({ plugin }: Candidate, live: ReadonlyMap<string, Plugin>): Plugin {
  return live.get(keyOf(plugin)) ?? plugin;
}

async function faultsOf({ plugin, declared }: Candidate, sync: Sync, tree: FileTree): Promise<SyncFault[]> {
  const { git } = plugin.spec.source;
  if (git === undefined || git.url !== undefined) return [];
  const path = cleanPath(git.path);
  try {
    const files = await treePackage(tree, path);
    const package_ = await readPackage(files);
    const rules = { delegateConditions: sync.spec.expansions?.delegateConditions ?? [], sync: keyOf(sync) };
    const object = describeRef(refOf(declared.object));
    return faultsHere(package_, rules).map(({ file, line, column, message }) =>
      files.form === 'folder'
        ? { file: path === '' ? file : `${path}/${file}`, line, column, message, object }
        : { file: path, line: 1, column: 1, message: `${file}:${line}:${column}: ${message}`, object },
    );
  } catch (error) {
    if (isError(error, 'ExpansionInvalid', 'SourceMissing', 'GitUnsafePath', 'GitTooLarge'))
      return [placed(declared, error.message)];
    throw error;
  }
}

function placed(declared: Declared, message: string): SyncFault {
  const { file, line, column } = declared.origin;
  return { file, line, column, message, object: describeRef(refOf(declared.object)) };
}
