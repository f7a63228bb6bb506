import { EspalierError, refKey } from '../api/index.ts';
import type { FileTree } from '../git/tree.ts';
import { rememberChecks } from './check.ts';
import type { Declarations, Refused } from './declarations.ts';
import { type Draft, draftObjects, type Part } from './drafts.ts';
import { describeFault, type Fault } from './fault.ts';
import { Files } from './files.ts';
import { type Check, finishDraft } from './finish.ts';
import { gather } from './gather.ts';
import { cleanPath } from './git-paths.ts';
import { identify } from './identity.ts';
import type { ClusterIdentity } from './layout.ts';
import { scan } from './scan.ts';
import { pinSources } from './sources.ts';

export interface ReadOptions {
  /** The Sync's `repository.path`. */
  path: string;
  cluster: ClusterIdentity;
  /** For namespaced objects that say none: the Sync's own. */
  namespace: string;
}

/** Reads declarations again and again, and parses each content once. Keep one for each repository. */
export interface DeclarationReader {
  read(tree: FileTree, options: ReadOptions): Promise<Declarations>;
}

export function createReader(): DeclarationReader {
  const files = new Files();
  const check = rememberChecks();
  return { read: (tree, options) => readWith(files, check, tree, options) };
}

/**
 * Everything that a tree declares for a cluster. What is wrong with single files and objects is in the answer; this
 * throws only when nothing can be said at all: the folder is missing, or too large.
 */
export function readDeclarations(tree: FileTree, options: ReadOptions): Promise<Declarations> {
  return createReader().read(tree, options);
}

async function readWith(files: Files, check: Check, tree: FileTree, options: ReadOptions): Promise<Declarations> {
  const root = cleanPath(options.path);
  await mustBeFolder(tree, root);
  const found = await scan(tree, root, options.cluster);
  const gathered = await gather(tree, files, found.layers);
  const { drafts, faults, uncertainFiles } = draftObjects(gathered.layers, options.namespace);
  const suspects = suspectKeys(gathered.remains, drafts, options.namespace);
  const result: Declarations = {
    objects: [],
    faults: [...found.faults, ...gathered.faults, ...faults],
    refused: [],
    brokenFiles: [...found.faults.map((fault) => fault.file), ...gathered.brokenFiles],
    uncertainFiles: [...new Set(uncertainFiles)],
  };
  const pin = pinSources(tree);
  for (const draft of drafts.values()) {
    const outcome = await finishDraft(draft, check, pin);
    if (outcome === undefined) continue;
    if ('faults' in outcome) refuse(result, draft.key, outcome.faults);
    else if (!suspects.has(draft.key)) result.objects.push(outcome);
  }
  const known = new Set(result.refused.map((one) => one.key));
  for (const [key, why] of suspects) if (!known.has(key)) result.refused.push({ key, why });
  result.faults.sort(byPlace);
  return result;
}

async function mustBeFolder(tree: FileTree, root: string): Promise<void> {
  const shown = root === '' ? '.' : root;
  const id = await tree.id(root);
  if (id !== undefined && (root === '' || (await tree.read(root)) === undefined)) return;
  const what = id === undefined ? 'does not exist' : 'is a file';
  const message = `The folder ${JSON.stringify(shown)} ${what} at ${tree.commit}: correct spec.repository.path of the Sync.`;
  throw new EspalierError('SourceMissing', message, { data: { path: shown, commit: tree.commit } });
}

function refuse(result: Declarations, key: string, faults: readonly Fault[]): void {
  result.faults.push(...faults);
  const [first] = faults;
  const refused: Refused = { key, why: first === undefined ? 'it is refused' : describeFault(first) };
  result.refused.push(refused);
}

/** Objects that a broken file says something about, as far as that can be told: the rest of what is said of them isn't all. */
function suspectKeys(
  remains: readonly Part[],
  drafts: ReadonlyMap<string, Draft>,
  namespace: string,
): Map<string, string> {
  const suspects = new Map<string, string>();
  for (const part of remains) {
    const identity = identify(part, namespace);
    if ('fault' in identity) continue;
    const { kind, name } = identity.ref;
    const alike = [...drafts.values()].filter(({ ref }) => !identity.exact && ref.kind === kind && ref.name === name);
    for (const ref of [identity.ref, ...alike.map((draft) => draft.ref)]) {
      suspects.set(refKey(ref), `${part.file} can't be read`);
    }
  }
  return suspects;
}

function byPlace(a: Fault, b: Fault): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
