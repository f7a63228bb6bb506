import { isError, type KubeObject } from '../api/index.ts';
import type { FileTree } from '../git/tree.ts';
import { locateFault } from './check.ts';
import type { Draft } from './drafts.ts';
import type { Fault } from './fault.ts';
import type { Pin } from './finish.ts';
import { gitPathsOf, ownPath } from './git-paths.ts';
import { stepsOf } from './pointer.ts';

export type Pinned = { object: KubeObject; paths: string[] } | { faults: Fault[] };

/**
 * Writes into every source of the Sync's own repository the object id of its path: from then on the declaration says
 * what content it means. A path that doesn't exist is a fault. Each path is looked up once.
 */
export function pinSources(tree: FileTree): Pin {
  const looked = new Map<string, Promise<Looked>>();
  const look = (path: string): Promise<Looked> => {
    const known = looked.get(path) ?? lookUp(tree, path);
    looked.set(path, known);
    return known;
  };
  return async (draft, { object, pointerOf }) => {
    const paths: string[] = [];
    const faults: Fault[] = [];
    let pinned = object;
    for (const { pointer, source } of gitPathsOf(object)) {
      const path = ownPath(source);
      if (path === undefined) continue;
      const found = await look(path);
      if ('why' in found) faults.push(missing(draft, pointerOf?.(`${pointer}/path`), `${pointer}/path`, found.why));
      else pinned = withValue(pinned, stepsOf(`${pointer}/tree`), found.id);
      paths.push(path);
    }
    return faults.length > 0 ? { faults } : { object: pinned, paths };
  };
}

type Looked = { id: string } | { why: string };

async function lookUp(tree: FileTree, path: string): Promise<Looked> {
  try {
    const id = await tree.id(path);
    return id === undefined ? { why: `${JSON.stringify(path)} does not exist at this commit` } : { id };
  } catch (error) {
    if (!isError(error, 'GitUnsafePath')) throw error;
    return { why: error.message };
  }
}

function missing(draft: Draft, written: string | undefined, pointer: string, why: string): Fault {
  const expected = 'a path from the root of the repository';
  const field = written === undefined ? 'source.git.path' : stepsOf(written).join('.');
  const message = `${field}: ${why}, expected ${expected}`;
  return { ...locateFault(draft, { path: written ?? pointer, message, expected }), code: 'SourceMissing' };
}

/** A copy with one more value; what is not on the way to it is shared. */
function withValue<T extends object>(target: T, [step = '', ...rest]: readonly string[], value: string): T {
  const copy = Array.isArray(target) ? [...target] : { ...target };
  const inner: unknown = Reflect.get(target, step);
  Reflect.set(
    copy,
    step,
    rest.length === 0 ? value : withValue(typeof inner === 'object' && inner !== null ? inner : {}, rest, value),
  );
  return copy as T;
}
