import type { JsonObject, KubeObject } from '../api/index.ts';
import { isMap, valueAt } from './merge.ts';

/** A place in a declaration that names a folder or file of the Sync's own repository. */
export interface GitPath {
  /** Where in the object: `/spec/source/git`. */
  pointer: string;
  source: JsonObject;
}

/** Every `source.git` of an object, whoever's repository it names. */
export function gitPathsOf(object: JsonObject | KubeObject): GitPath[] {
  const found: GitPath[] = [];
  const own = valueAt(object, 'spec', 'source', 'git');
  if (isMap(own)) found.push({ pointer: '/spec/source/git', source: own });
  const versions = valueAt(object, 'spec', 'versions');
  if (!Array.isArray(versions)) return found;
  versions.forEach((version, index) => {
    const source = valueAt(version, 'source', 'git');
    if (isMap(source)) found.push({ pointer: `/spec/versions/${index}/source/git`, source });
  });
  return found;
}

/** The path of a source in the Sync's own repository, from its root without `.` and double slashes; undefined for others. */
export function ownPath(source: JsonObject): string | undefined {
  if (source.url !== undefined || typeof source.path !== 'string') return undefined;
  return cleanPath(source.path);
}

export function cleanPath(path: string): string {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
}
