import { setTimeout as wait } from 'node:timers/promises';
import { EspalierError } from '../api/index.ts';
import { runProgram } from '../tools/run.ts';

export interface CraneOptions {
  /** The program. */
  path: string;
  /** DOCKER_CONFIG, proxies and what credential helpers need. */
  env: Record<string, string>;
  /** Hosts that speak plain http. */
  insecure: readonly string[];
  timeoutMs: number;
}

export interface CraneCopy {
  /** `docker.io/library/nginx@sha256:…` */
  from: string;
  /** `registry.local/docker.io/library/nginx:1.27` */
  to: string;
  signal?: AbortSignal | undefined;
  /** Hears of every part that was sent, or was there. */
  onPart?(): void;
}

const ATTEMPTS = 4;
const FIRST_WAIT_MS = 2000;
const PART = /(?:pushed|existing|mounted) blob/;
const LATER = /TOOMANYREQUESTS|429 Too Many|503 Service|connection reset|unexpected EOF/i;

/**
 * Copies with crane what a digest names, an index whole. What the target has of it already is not sent again, so that a
 * copy that was cut off goes on.
 */
export async function craneCopy(options: CraneOptions, { from, to, signal, onPart }: CraneCopy): Promise<void> {
  const { path, env, timeoutMs } = options;
  for (let attempt = 1; ; attempt += 1) {
    const { code, stderr } = await runProgram(path, {
      args: ['copy', from, to, ...(isInsecure(options, from, to) ? ['--insecure'] : [])],
      env,
      timeoutMs,
      signal,
      onStderrLine: (line) => PART.test(line) && onPart?.(),
    });
    if (code === 0) return;
    const why = lastLine(stderr);
    if (attempt >= ATTEMPTS || !LATER.test(why)) throw failed(from, to, why);
    await wait(FIRST_WAIT_MS * 2 ** (attempt - 1), undefined, { signal });
  }
}

/** crane knows one switch for both sides. */
function isInsecure({ insecure }: CraneOptions, ...images: string[]): boolean {
  return images.some((image) => insecure.some((host) => image.startsWith(`${host}/`) || image.startsWith(`${host}:`)));
}

function lastLine(stderr: string): string {
  const line =
    stderr
      .trim()
      .split('\n')
      .findLast((one) => /error/i.test(one)) ??
    stderr.trim().split('\n').at(-1) ??
    '';
  return line.replace(/^(?:\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d )?(?:Error: )?/, '').slice(0, 500);
}

function failed(from: string, to: string, why: string): EspalierError {
  if (/UNAUTHORIZED|DENIED|401|403/.test(why))
    return new EspalierError(
      'RegistryAuthFailed',
      `copying ${from} to ${to} is not allowed: ${why}; check the login with "docker login"`,
    );
  return new EspalierError('RegistryFailed', `crane could not copy ${from} to ${to}: ${why}`);
}
