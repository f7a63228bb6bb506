import { EspalierError, type PluginDeclaration } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { changedTree, type FileChange } from '../git/changedtree.ts';
import { branchOfCheckout, commitInCheckout, ownIdentity } from '../git/checkout.ts';
import type { CommitRequest } from '../git/commitonto.ts';
import { type Person, parsePerson } from '../git/newcommit.ts';
import type { GitRepository } from '../git/repository.ts';
import type { FileTree } from '../git/tree.ts';
import { plain } from '../plan/plain.ts';
import { withForge } from './forge.ts';
import { print, say } from './print.ts';
import { shortCommit } from './standing.ts';
import { type CatalogueFlags, type Looked, type Opened, wrong } from './with-catalogue.ts';

export interface ChangeFlags extends CatalogueFlags {
  branch?: string;
  pullRequest?: true;
  message?: string;
  author?: string;
  dryRun?: true;
  wait?: true;
  timeout: string;
  color?: boolean;
}

/** A change that a person asked for, in Git or in the cluster. */
export interface Intention {
  verb: 'install' | 'upgrade' | 'uninstall';
  instance: { namespace: string; name: string };
  extension: string;
  /** One line: of the commit, and of the pull request. */
  title: string;
  /** Why, in Markdown. */
  body: string;
  /** What it changes of these files; none where they say so already. */
  files(tree: FileTree): Promise<FileChange[]>;
  /** Writes the object; says what was done. */
  write(client: KubeClient): Promise<string>;
  /** The Plugin that the object becomes; `undefined` where none would be left or changed. */
  plugin?: PluginDeclaration | undefined;
  /** What is said instead of a plan where there is no such Plugin. */
  otherwise?: string;
}

/** What can't go together, before anything is asked. */
export function checkFlags(flags: ChangeFlags): void {
  const { repository, branch, pullRequest, message, author, wait, dryRun } = flags;
  const inGit = Object.entries({ branch, 'pull-request': pullRequest, message, author });
  const [stray] = inGit.find(([, value]) => repository === undefined && value !== undefined) ?? [];
  if (stray !== undefined) throw wrong(`--${stray} is about a repository: say which with --repository`);
  if (wait && dryRun) throw wrong('--wait has nothing to wait for with --dry-run');
  if (wait && pullRequest) throw wrong('--wait: a pull request waits for a person; wait once it is merged');
  if (wait && branch !== undefined)
    throw wrong('--wait: what is on another branch than the followed one changes nothing');
}

/** True where the cluster must be asked, whatever version is given. */
export function needsCluster({ dryRun, pullRequest, wait }: ChangeFlags): boolean {
  return dryRun === true || pullRequest === true || wait === true;
}

/** Shows the plan, or makes the change. False where there was nothing to do. */
export async function carryOut(looked: Looked, intention: Intention, flags: ChangeFlags): Promise<boolean> {
  const { repository, cluster } = looked;
  if (flags.dryRun) {
    await showPlan(looked, intention, flags);
    return false;
  }
  if (repository === undefined) {
    if (cluster === undefined) throw new EspalierError('Internal', 'Neither a cluster nor a repository is open.');
    print(await intention.write(cluster.client));
    return true;
  }
  return repository.git === undefined
    ? await commitHere(repository, intention, flags)
    : await push(looked, repository, repository.git, intention, flags);
}

async function commitHere({ source, tree }: Opened, intention: Intention, flags: ChangeFlags): Promise<boolean> {
  if (flags.pullRequest)
    throw wrong('--pull-request needs the URL of the repository: a folder has commits that only you can push');
  const branch = await branchOfCheckout(source);
  if (flags.branch !== undefined && flags.branch !== branch)
    throw wrong(
      `--branch: ${source} is on ${branch}; check ${flags.branch} out first, or give the URL of the repository`,
    );
  const changes = await intention.files(tree);
  if (changes.length === 0) return nothingToDo(source);
  const author = flags.author === undefined ? undefined : parsePerson(flags.author);
  const commit = await commitInCheckout(source, { changes, message: messageOf(intention, flags), author });
  for (const { path, content } of changes) print(`${content === undefined ? 'removed' : 'wrote'} ${plain(path)}`);
  print(`committed ${shortCommit(commit)} to ${branch}: ${titleOf(intention, flags)}`);
  return true;
}

async function push(
  { cluster }: Looked,
  repository: Opened,
  git: GitRepository,
  intention: Intention,
  flags: ChangeFlags,
): Promise<boolean> {
  const { source, sync, isFollowed } = repository;
  const from = repository.branch;
  if (from === undefined) throw wrong('--ref: only a branch can be committed to');
  const { verb, instance } = intention;
  const own = `espalier/${verb}-${instance.namespace}-${instance.name}`;
  const request: CommitRequest = {
    branch: flags.branch ?? (flags.pullRequest ? own : from),
    from,
    message: messageOf(intention, flags),
    author: await authorOf(flags),
    change: intention.files,
  };
  if (!flags.pullRequest) {
    const { commit, branch, done } = await git.commitOnto(request);
    if (done === 'unchanged') return nothingToDo(`${source} at ${branch}`);
    print(`pushed ${shortCommit(commit)} to ${branch} of ${plain(git.url)}: ${titleOf(intention, flags)}`);
    return true;
  }
  if (cluster === undefined || !isFollowed) {
    const message = `no Sync follows ${plain(git.url)}, so nothing is known of its forge: name the one that does with --sync, or push a branch with --branch alone`;
    throw new EspalierError('CommandRefused', message);
  }
  if (request.branch === from) throw wrong(`--branch: a pull request into ${from} needs another branch than that`);
  return await withForge(cluster.client, sync, async (forge, signal) => {
    const { branch, ahead, done, commit } = await git.commitOnto(request);
    if (!ahead) return nothingToDo(`${source} at ${from}`);
    if (done === 'pushed') say(`pushed ${shortCommit(commit)} to ${branch} of ${plain(git.url)}`);
    const proposal = { title: titleOf(intention, flags), body: intention.body, head: branch, base: from };
    const pull = await forge.openPullRequest(proposal, signal);
    const words = { created: 'opened', changed: 'changed', unchanged: 'is open already:' }[pull.done];
    print(`${words} pull request #${pull.number}: ${plain(pull.url)}`);
    return true;
  });
}

async function showPlan(looked: Looked, intention: Intention, flags: ChangeFlags): Promise<void> {
  const { cluster, repository } = looked;
  if (cluster === undefined) throw new EspalierError('Internal', 'A plan needs a cluster.');
  const [{ planTree }, { printPlan }] = await Promise.all([import('./plan-source.ts'), import('./print-plan.ts')]);
  const { client, namespace } = cluster;
  if (repository !== undefined) {
    const changes = await intention.files(repository.tree);
    if (changes.length === 0) return void nothingToDo(repository.source);
    for (const { path, content } of changes)
      print(`would ${content === undefined ? 'remove' : 'write'} ${plain(path)}`);
    const { tree } = await changedTree(repository.tree, changes);
    const { sync, history } = repository;
    return await printPlan(await planTree({ client, namespace, sync, tree, history }), flags);
  }
  if (intention.plugin === undefined) return print(intention.otherwise ?? 'nothing would change');
  const { planObject } = await import('./plan-object.ts');
  const extension = looked.catalogue.extensions.get(intention.extension);
  await printPlan(await planObject(cluster, intention.plugin, extension), flags);
}

function nothingToDo(where: string): false {
  print(`nothing to do: ${plain(where)} says so already`);
  return false;
}

function titleOf({ title }: Intention, { message }: ChangeFlags): string {
  return message?.split('\n')[0] ?? title;
}

function messageOf({ title }: Intention, { message }: ChangeFlags): string {
  return message ?? title;
}

async function authorOf({ author }: ChangeFlags): Promise<Person> {
  const person = author === undefined ? await ownIdentity(process.cwd()) : parsePerson(author);
  if (person !== undefined) return person;
  throw wrong('who makes the commit? Set user.name and user.email of git, or give --author "Name <email>"');
}
