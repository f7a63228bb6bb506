import { join } from 'node:path';
import { EspalierError, isError } from '../api/index.ts';
import { runProgram } from '../tools/run.ts';

const TIMEOUT_MS = 60_000;

/** Nothing of the user's own Git settings, hooks or prompts reaches a playground repository. */
export function gitEnvironment(home: string): Record<string, string> {
  return {
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Espalier Playground',
    GIT_AUTHOR_EMAIL: 'playground@espalier.dev',
    GIT_COMMITTER_NAME: 'Espalier Playground',
    GIT_COMMITTER_EMAIL: 'playground@espalier.dev',
  };
}

/** Runs git in a folder and returns what it prints. A failure shows what git said. */
export async function git(
  folder: string,
  args: string[],
  options: { env?: Record<string, string>; input?: string | Uint8Array } = {},
): Promise<string> {
  const env = { ...gitEnvironment(folder), ...options.env };
  const { input } = options;
  const ran = await runProgram('git', { args, cwd: folder, env, input, timeoutMs: TIMEOUT_MS }).catch((error) => {
    throw isError(error, 'ProgramFailed') ? gitMissing(error) : error;
  });
  if (ran.code === 0) return ran.stdout.trimEnd();
  throw new EspalierError('PlaygroundFailed', `git ${args[0]} failed in ${folder}: ${ran.stderr.trim()}`);
}

let backend: Promise<string> | undefined;

/** Git's program that answers one request of smart HTTP. Started by its own name it needs one process less. */
export function httpBackend(): Promise<string> {
  backend ??= git('/', ['--exec-path']).then((folder) => join(folder, 'git-http-backend'));
  return backend;
}

function gitMissing(cause: unknown): EspalierError {
  return new EspalierError('ToolMissing', 'git can not be run; install it, put it on the PATH and try again', {
    cause,
    data: { tool: 'git' },
    retry: false,
  });
}
