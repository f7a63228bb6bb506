import { EspalierError } from '../api/errors.ts';
import { findTool } from './find.ts';
import { findGo } from './golang.ts';
import { type ObtainOptions, obtain } from './obtain.ts';
import { isUnreachable } from './reach.ts';
import { releaseOf } from './releases.ts';
import { surroundingsOf } from './surroundings.ts';
import { TOOLS, type Tool, type ToolName } from './table.ts';

/**
 * `version` asks for another version than the table's: of a Kubernetes program that is the published one, or the same
 * sources linked to report it.
 */
export type ToolOptions = ObtainOptions;

export type ToolState = {
  name: ToolName;
  version: string;
  purpose: string;
} & (
  | { state: 'named' | 'on the PATH' | 'installed'; path: string }
  | { state: 'to download' | 'to build' | 'missing' }
);

/** Finds a program; downloads or builds it when it is nowhere. */
export async function toolPath(name: ToolName, options: ToolOptions = {}): Promise<string> {
  return (await ensureTools([name], options))[name];
}

/** The same for several: what can be built together is, one build at a time. Throws when any of them can't be had. */
export async function ensureTools<N extends ToolName>(
  names: readonly N[],
  options: ToolOptions = {},
): Promise<Record<N, string>> {
  const paths = await obtain(inOrder(names), options);
  const answer: Partial<Record<ToolName, string>> = {};
  for (const name of names) {
    const path = paths.get(name);
    if (path === undefined) throw new EspalierError('Internal', `${name} was obtained, but nobody knows where`);
    answer[name] = path;
  }
  return answer as Record<N, string>; // every name was set above
}

/** Where a program is, or how it would be got, without getting it. */
export async function toolState(name: ToolName, options: ToolOptions = {}): Promise<ToolState> {
  const surroundings = options.surroundings ?? surroundingsOf();
  const tool: Tool = TOOLS[name];
  const version = options.version ?? tool.version;
  const about = { name, version, purpose: tool.purpose };
  const found = await findTool(tool, version, surroundings, options.signal);
  if (found.state !== 'absent') return { ...about, ...found };
  const release = releaseOf(tool, surroundings.platform, version);
  if (release !== undefined && !(await isUnreachable(surroundings.cache, new URL(release.url).origin))) {
    return { ...about, state: 'to download' };
  }
  const go = await findGo(tool.recipe, surroundings, options.signal);
  return { ...about, state: go.ok ? 'to build' : 'missing' };
}

/** The table's order: what the playground needs first comes first, and what is made together stands together. */
function inOrder(names: readonly ToolName[]): Tool[] {
  const wanted = new Set<string>(names);
  return Object.values<Tool>(TOOLS).filter((tool) => wanted.has(tool.name));
}
