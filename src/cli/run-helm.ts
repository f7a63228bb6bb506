import type { RunResult } from '../tools/run.ts';
import type { ClusterOptions } from './options.ts';
import type { ReleasePlace } from './release-of.ts';

/** Beyond Helm's own deadline: it must have the time to say what happened. */
const SPARE_MS = 60_000;

/** Runs the real Helm on a release, with the kubeconfig, the context and the rights of the person who runs this. */
export async function runHelm(
  args: readonly string[],
  place: ReleasePlace,
  options: ClusterOptions,
  timeoutMs: number,
): Promise<RunResult> {
  const [{ runProgram }, { toolPath }] = await Promise.all([import('../tools/run.ts'), import('../tools/tool.ts')]);
  return await runProgram(await toolPath('helm'), {
    args: [
      ...args,
      '--namespace',
      place.namespace,
      '--timeout',
      `${Math.ceil(timeoutMs / 1000)}s`,
      ...(options.kubeconfig === undefined ? [] : ['--kubeconfig', options.kubeconfig]),
      ...(options.context === undefined ? [] : ['--kube-context', options.context]),
    ],
    env: ownEnvironment(),
    timeoutMs: timeoutMs + SPARE_MS,
  });
}

/** Such as `I1119 00:56:47.681655   13333 reflector.go:664] …`: what libraries in it notice on the way. */
const LOG_LINE = /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ /;

/** What Helm says when it failed. */
export function whyHelmFailed(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => !LOG_LINE.test(line));
  return lines
    .join('\n')
    .trim()
    .replace(/^Error: /, '');
}

/** A person's kubeconfig may start the login program of their cloud, which wants their environment. */
function ownEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
