import { EspalierError } from '../api/errors.ts';
import { isExecutable, onPath } from './executable.ts';
import { folderOf, installedIn } from './installed.ts';
import type { Surroundings } from './surroundings.ts';
import type { Tool } from './table.ts';
import { versionOf } from './version.ts';

export type Found =
  | { state: 'named' | 'on the PATH' | 'installed'; path: string }
  /** `passedOver` says what was found and not taken. */
  | { state: 'absent'; passedOver: string[] };

/** More programs of one name on a PATH than this are not asked for their version. */
const ASK_AT_MOST = 3;

/** ESPALIER_TOOL_KUBE_APISERVER for `kube-apiserver`. */
export function variableFor(name: string): string {
  return `ESPALIER_TOOL_${name.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * Looks for a program without getting it: named by its variable, on the PATH, in the cache. On the PATH another
 * version is never taken. The variable is a person's word and taken as it is, unless another version than the table's
 * is asked for.
 */
export async function findTool(
  tool: Tool,
  version: string,
  surroundings: Surroundings,
  signal?: AbortSignal,
): Promise<Found> {
  const passedOver: string[] = [];
  const fits = async (path: string) => {
    const found = await versionOf(path, tool.ask, signal);
    if (found !== version) passedOver.push(`${path} ${found === undefined ? 'tells no version' : `is ${found}`}`);
    return found === version;
  };
  const named = surroundings.env[variableFor(tool.name)];
  if (named) {
    await mustRun(named, tool.name);
    if (version === tool.version || (await fits(named))) return { state: 'named', path: named };
  }
  for (const path of (await onPath(tool.name, surroundings.env.PATH)).slice(0, ASK_AT_MOST)) {
    if (await fits(path)) return { state: 'on the PATH', path };
  }
  const installed = await installedIn(await folderOf(tool, version, surroundings), tool.name);
  return installed === undefined ? { state: 'absent', passedOver } : { state: 'installed', path: installed };
}

async function mustRun(path: string, name: string): Promise<void> {
  if (path.startsWith('/') && (await isExecutable(path))) return;
  throw new EspalierError(
    'ToolMissing',
    `${variableFor(name)} is ${path}, which is no absolute path of a program that may be run. Correct it or unset it.`,
    { data: { tool: name, path }, retry: false },
  );
}
