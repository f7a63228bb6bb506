import { describeRef, isError, type Plugin, refOf, type Sync, type SyncFault } from '../api/index.ts';
import type { Declared } from '../declare/declarations.ts';
import { cleanPath } from '../declare/git-paths.ts';
import { type ClusterRules, faultsHere } from '../expansion/faults-here.ts';
import { isLeftOut } from '../expansion/left-out.ts';
import { readPackage } from '../expansion/read-package.ts';
import { treePackage } from '../expansion/tree-package.ts';
import type { FileTree } from '../git/tree.ts';
import { activityOf } from '../resolve/when.ts';
import { byPrecedence, isExpansion } from './expansion-rivals.ts';
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

interface Candidate {
  plugin: Plugin;
  declared: Declared;
}

/** A declared package, where it is for this cluster. */
export function expansionHere(
  declared: Declared | undefined,
  cluster: { kubernetes: string | undefined; labels: Readonly<Record<string, string>> },
): Candidate[] {
  if (declared?.object.kind !== 'Plugin') return [];
  const plugin = declared.object as unknown as Plugin;
  const { enabled, when } = plugin.spec;
  if (!isExpansion(plugin) || enabled === false) return [];
  return activityOf(when, { ...cluster, windowOpen: true }).state === 'inactive' ? [] : [{ plugin, declared }];
}

/** What speaks against the expansion packages of a revision, by the key of their declaration. */
export async function judgeExpansions(input: JudgeInput): Promise<Map<string, SyncFault[]>> {
  const { sync, tree, kubernetes, wanted, declaredBy, plugins } = input;
  const labels = sync.spec.cluster?.labels ?? {};
  const found = wanted.flatMap(({ key }) => expansionHere(declaredBy.get(key), { kubernetes, labels }));
  const rules = { delegateConditions: sync.spec.expansions?.delegateConditions ?? [], sync: keyOf(sync), labels };
  const faults = new Map<string, SyncFault[]>();
  const rivals: Candidate[] = [];
  for (const one of found) {
    const judged = await judgePackage(tree, one.declared, rules);
    if (judged.faults.length > 0) faults.set(one.declared.key, judged.faults);
    if (!judged.isLeftOut) rivals.push(one);
  }
  for (const [key, fault] of rivalFaults(rivals, plugins)) faults.set(key, [...(faults.get(key) ?? []), fault]);
  return faults;
}

/** One at a time: what is in the cluster already came first. */
export function rivalFaults(found: readonly Candidate[], plugins: readonly Plugin[]): Map<string, SyncFault> {
  const live = new Map(plugins.filter(isExpansion).map((plugin) => [keyOf(plugin), plugin]));
  const standing = ({ plugin }: Candidate): Plugin => live.get(keyOf(plugin)) ?? plugin;
  const [first, ...others] = found.toSorted((a, b) => byPrecedence(standing(a), standing(b)));
  if (first === undefined) return new Map();
  const { file, line } = first.declared.origin;
  return new Map(
    others.map(({ plugin, declared }) => {
      const message = `expansion ${keyOf(plugin)} can't be installed beside ${keyOf(first.plugin)} (${file}:${line}): a cluster takes one at a time; remove one of them`;
      return [declared.key, placed(declared, message)];
    }),
  );
}

/**
 * Everything that is wrong with a package of the revision itself, where it stands, and whether it is for another cluster.
 * What is elsewhere is looked at when it is rendered.
 */
export async function judgePackage(
  tree: FileTree,
  declared: Declared,
  rules: Pick<ClusterRules, 'labels'> & Partial<ClusterRules>,
): Promise<{ faults: SyncFault[]; isLeftOut: boolean }> {
  const { git } = (declared.object as unknown as Plugin).spec.source;
  if (git === undefined || git.url !== undefined) return { faults: [], isLeftOut: false };
  const path = cleanPath(git.path);
  const object = describeRef(refOf(declared.object));
  try {
    const files = await treePackage(tree, path);
    const found = await readPackage(files);
    const { delegateConditions, sync, labels } = rules;
    const wrong =
      delegateConditions === undefined ? found.faults : faultsHere(found, { delegateConditions, sync, labels });
    const faults = wrong.map(({ file, line, column, message }) =>
      files.form === 'folder'
        ? { file: path === '' ? file : `${path}/${file}`, line, column, message, object }
        : { file: path, line: 1, column: 1, message: `${file}:${line}:${column}: ${message}`, object },
    );
    return { faults, isLeftOut: isLeftOut(found.expansion, labels) };
  } catch (error) {
    if (isError(error, 'ExpansionInvalid', 'SourceMissing', 'GitUnsafePath', 'GitTooLarge'))
      return { faults: [placed(declared, error.message)], isLeftOut: false };
    throw error;
  }
}

function placed(declared: Declared, message: string): SyncFault {
  const { file, line, column } = declared.origin;
  return { file, line, column, message, object: describeRef(refOf(declared.object)) };
}
