import { join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import type { RunOptions, RunResult } from '../tools/run.ts';
import type { ToolName } from '../tools/table.ts';

/** The external programs, as `src/tools` gives them. */
export interface RenderTools {
  run(path: string, options: RunOptions): Promise<RunResult>;
  path(name: ToolName, options?: { signal?: AbortSignal | undefined }): Promise<string>;
}

export interface ContainedRun {
  tool: 'helm' | 'kustomize';
  args: string[];
  /** A private folder: working directory, home and temporary files are in it. */
  folder: string;
  input?: string;
  /** Absent: no cluster. */
  kubeconfig?: string;
  timeoutMs: number;
  outputBytes: number;
  secrets: readonly string[];
  signal?: AbortSignal | undefined;
}

/** A template can ask for any amount of memory; a small one needs 50 MB. */
const MEMORY_KIB = 1024 * 1024;
/** Nothing has to be tidied up but the folder, and that is ours. */
const GRACE_MS = 100;
/** A fixed script whose arguments are never read as shell. A limit is a property of a process, and Node can't set it. */
const WITH_LIMIT = 'ulimit -d "$1" 2>/dev/null; shift; exec "$@"';
/**
 * Both programs live for a moment. Collecting garbage from the fourth megabyte on is a fifth of what such a moment
 * costs; this keeps them well below the limit all the same.
 */
const GARBAGE: Readonly<Record<string, string>> = { GOGC: '400', GOMEMLIMIT: `${MEMORY_KIB / 2048}MiB` };
/** Nothing listens there. Both programs ask no other way than through a proxy when one is set. */
const NOWHERE = 'http://127.0.0.1:9';

/**
 * Runs Helm or kustomize with nothing to reach: no program on its PATH (kustomize would run `git`), no home, no
 * cluster, no network but a dead proxy. Inputs are checked before, this is the second wall.
 */
export async function runContained(tools: RenderTools, run: ContainedRun): Promise<RunResult> {
  const program = await tools.path(run.tool, { signal: run.signal });
  const result = await tools.run('/bin/sh', {
    args: ['-c', WITH_LIMIT, run.tool, String(MEMORY_KIB), program, ...run.args],
    cwd: run.folder,
    env: { ...containedEnv(run.folder), ...(run.kubeconfig === undefined ? {} : { KUBECONFIG: run.kubeconfig }) },
    input: run.input,
    timeoutMs: run.timeoutMs,
    graceMs: GRACE_MS,
    maxOutputBytes: run.outputBytes,
    secrets: run.secrets,
    signal: run.signal,
  });
  if (result.code !== 0 && /fatal error: .*memory/.test(result.stderr)) {
    throw new EspalierError(
      'RenderRefused',
      `${run.tool} needed more than ${MEMORY_KIB / 1024} MiB of memory and was stopped`,
    );
  }
  return result;
}

function containedEnv(folder: string): Record<string, string> {
  const home = join(folder, 'home');
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
  return {
    ...GARBAGE,
    ...Object.fromEntries(proxies.map((name) => [name, NOWHERE])),
    PATH: '',
    HOME: home,
    TMPDIR: folder,
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    HELM_PLUGINS: join(home, 'plugins'),
    KUBECONFIG: '/dev/null',
  };
}

/** Logs, and advice on options that whoever reads this can't give. */
const SAYS_NOTHING = /^(level=|# Warning:|Use --debug flag )/;
const LONGEST = 2000;

/** The last words of a failed program, as one message. */
export function lastWords(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !SAYS_NOTHING.test(line));
  const words = lines.join(' ').replace(/^Error: /, '');
  // The reason stands at the end of a long chain of calls.
  const shown = words.length > LONGEST ? `${words.slice(0, LONGEST / 2)} … ${words.slice(-LONGEST / 2)}` : words;
  return shown || 'it gave no reason';
}
