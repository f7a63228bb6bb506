import { type ErrorCode, EspalierError, isError } from '../api/index.ts';
import type { Answer } from '../charts/transport.ts';
import { readWhole } from '../git/http.ts';
import type { LostWords } from '../git/lost.ts';

export const LOST: LostWords = {
  timedOut: 'RegistryTimedOut',
  unreachable: 'RegistryFailed',
  giveAuthority: 'name the file of the authority that signed it with --ca-file',
};

/** What the way to a server is shared with is called after charts and Git there. */
const OURS: Partial<Record<ErrorCode, ErrorCode>> = {
  ChartAuthFailed: 'RegistryAuthFailed',
  ChartFetchFailed: 'RegistryFailed',
  ChartNotFound: 'RegistryNotFound',
  ChartRefused: 'RegistryRefused',
  GitBadUrl: 'RegistryRefused',
  GitUnreachable: 'RegistryFailed',
  GitTimedOut: 'RegistryTimedOut',
};

const MESSAGE_BYTES = 64 * 1024;

/** Whatever was thrown on the way, in the words of registries. */
export function asRegistryError(error: unknown, host: string): unknown {
  if (!isError(error)) return error;
  const code = OURS[error.code];
  if (code === undefined) return error;
  const message = code === 'RegistryAuthFailed' ? login(host, 'it gives no token for them') : error.message;
  return new EspalierError(code, message, { cause: error, data: error.data });
}

/** An answer that is not the one hoped for. `what` is "the manifest of docker.io/library/nginx:1.27". */
export async function complain(answer: Answer, host: string, what: string, hasLogin: boolean): Promise<never> {
  const { status } = answer;
  const said = await saidBy(answer);
  const data = { status };
  if (status === 401 || status === 403) {
    const why = hasLogin
      ? `it refused the login for ${what} (${status}${said})`
      : `it wants a login for ${what} (${status})`;
    throw new EspalierError('RegistryAuthFailed', login(host, why), { data, retry: false });
  }
  if (status === 404)
    throw new EspalierError('RegistryNotFound', `${host} has no ${what}; check its name and tag.`, { data });
  const seconds = Number(answer.headers['retry-after']);
  const wait = Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: Math.min(seconds, 3600) * 1000 } : {};
  const temporary = status === 429 || status >= 500;
  const next = temporary ? 'run it again later: what is done is not done twice' : 'check its name';
  throw new EspalierError('RegistryFailed', `${host} answered ${status} for ${what}${said}; ${next}.`, {
    ...{ data, retry: temporary },
    ...wait,
  });
}

function login(host: string, why: string): string {
  return `${host} can't be used: ${why}; log in with "docker login ${host}" or "crane auth login ${host}", or name another folder of credentials in DOCKER_CONFIG.`;
}

/** The registry's own words, as far as they are words. */
async function saidBy(answer: Answer): Promise<string> {
  try {
    const bytes = await readWhole(answer.body, MESSAGE_BYTES);
    const { errors } = JSON.parse(bytes?.toString('utf8') ?? '') as { errors?: { code?: string; message?: string }[] };
    const text = [errors?.[0]?.code, errors?.[0]?.message].filter((part) => typeof part === 'string').join(': ');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    const words = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ').slice(0, 200);
    return words === '' ? '' : `, ${words}`;
  } catch {
    return '';
  }
}
