import { parseAllDocuments, stringify } from 'yaml';
import type { Json } from '../../api/index.ts';
import { isSameRepository } from './address.ts';
import type { World } from './world.ts';

/** Files by repository and path, as checkouts; and YAML as the command line reads and writes it. */
export function worldWith(repositories: Record<string, Record<string, string>> = {}, sameRepository?: string): World {
  return {
    ...(sameRepository === undefined ? {} : { sameRepository }),
    parseYaml: objectsOf,
    printYaml: (value) => stringify(value),
    checkout(url) {
      const [, files] = Object.entries(repositories).find(([one]) => isSameRepository(one, url)) ?? [];
      if (files === undefined) return undefined;
      return { names: (path) => namesIn(Object.keys(files), path), read: (path) => files[path] };
    },
  };
}

function namesIn(paths: readonly string[], folder: string): string[] | undefined {
  const prefix = folder === '.' ? '' : `${folder}/`;
  const below = paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
  if (below.length === 0) return undefined;
  return [...new Set(below.map((path) => (path.includes('/') ? `${path.split('/')[0]}/` : path)))];
}

/** Objects out of YAML; throws on what is none. */
export function objectsOf<T = Json>(text: string): T[] {
  return parseAllDocuments(text).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJSON() as T;
  });
}
