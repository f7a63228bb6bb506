import { EspalierError } from '../api/index.ts';
import type { RemoteRef } from './backend.ts';
import { isOid } from './objects.ts';

/** What to follow. Of several, the most precise wins: commit, semver, tag, branch. None is the server's default branch. */
export interface RefSpec {
  branch?: string | undefined;
  tag?: string | undefined;
  semver?: string | undefined;
  commit?: string | undefined;
}

export interface Resolved {
  commit: string;
  /** The full name that led there; absent for a commit that is given as such. */
  ref?: string;
}

/** The highest of these tags in a range; undefined when none is. */
export type PickTag = (tags: string[], range: string) => string | undefined;

/** What to ask the server for: just what the answer can depend on. */
export function prefixesFor(spec: RefSpec): string[] {
  if (spec.commit !== undefined) return [];
  if (spec.semver !== undefined) return ['refs/tags/'];
  if (spec.tag !== undefined) return [`refs/tags/${checkName(spec.tag)}`];
  return spec.branch === undefined ? ['HEAD'] : [`refs/heads/${checkName(spec.branch)}`];
}

/** The commit that a complete list of refs leads to; undefined when the list lacks what was asked for. */
export function selectRef(spec: RefSpec, refs: RemoteRef[], pickTag: PickTag | undefined): Resolved | undefined {
  if (spec.commit !== undefined) return { commit: checkCommit(spec.commit) };
  const name = nameOf(spec, refs, pickTag);
  const found = refs.find(({ ref }) => ref === name);
  return found === undefined ? undefined : { commit: found.peeled ?? found.oid, ref: found.target ?? found.ref };
}

function nameOf(spec: RefSpec, refs: RemoteRef[], pickTag: PickTag | undefined): string | undefined {
  if (spec.semver !== undefined) {
    if (pickTag === undefined) throw new EspalierError('Internal', 'A version range needs somebody who picks a tag.');
    const tags = refs
      .filter(({ ref }) => ref.startsWith('refs/tags/'))
      .map(({ ref }) => ref.slice('refs/tags/'.length));
    const tag = pickTag(tags, spec.semver);
    return tag === undefined ? undefined : `refs/tags/${tag}`;
  }
  return prefixesFor(spec)[0];
}

/** `main` of `refs/heads/main`; undefined for what is no branch. */
export function branchIn(ref: string | undefined): string | undefined {
  const heads = 'refs/heads/';
  return ref?.startsWith(heads) === true ? ref.slice(heads.length) : undefined;
}

/** For messages: `branch main`. */
export function describeSpec(spec: RefSpec): string {
  if (spec.commit !== undefined) return `commit ${spec.commit}`;
  if (spec.semver !== undefined) return `tag in the range ${spec.semver}`;
  if (spec.tag !== undefined) return `tag ${spec.tag}`;
  return spec.branch === undefined ? 'default branch' : `branch ${spec.branch}`;
}

/** Why a complete list of refs leads nowhere, with what there is instead. */
export function explainMissing(spec: RefSpec, refs: RemoteRef[], url: string): EspalierError {
  const data = { ...spec, empty: refs.length === 0 };
  if (refs.length === 0) {
    return new EspalierError('GitRefMissing', `The repository ${url} is empty; push a first commit to it.`, { data });
  }
  const [what, kind] =
    spec.tag === undefined && spec.semver === undefined ? ['branches', 'refs/heads/'] : ['tags', 'refs/tags/'];
  const names = refs.filter(({ ref }) => ref.startsWith(kind)).map(({ ref }) => ref.slice(kind.length));
  const some = names.length === 0 ? 'none' : `${names.slice(0, 10).join(', ')}${names.length > 10 ? ', …' : ''}`;
  return new EspalierError(
    'GitRefMissing',
    `The repository ${url} has no ${describeSpec(spec)}; its ${what}: ${some}.`,
    {
      data,
    },
  );
}

function checkCommit(commit: string): string {
  const oid = commit.toLowerCase();
  if (isOid(oid)) return oid;
  throw new EspalierError('GitRefMissing', `${JSON.stringify(commit)} is no commit: write all 40 digits of its id.`, {
    retry: false,
  });
}

/** Git's own rules for the names of branches and tags. */
function checkName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  const forbidden = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|\/\.|[/.]$|\.lock(\/|$)/;
  if (name !== '' && name !== '@' && !forbidden.test(name)) return name;
  throw new EspalierError('GitRefMissing', `${JSON.stringify(name)} can't be the name of a branch or tag.`, {
    retry: false,
  });
}
