import { EspalierError, messageOf } from '../../api/index.ts';
import { Fields } from './fields.ts';

export type Login = { token: string } | { user: string; password: string };

export interface GiteaAnswer {
  status: number;
  fields: Fields;
  /** What it says where it refuses. */
  message: string;
}

/** Gitea's API as one user of it. */
export interface GiteaApi {
  /** Fails where the answer is none of the 2xx. */
  call(method: string, path: string, body?: object): Promise<Fields>;
  /** Any answer is an answer; fails only where there is none. */
  ask(method: string, path: string, body?: object): Promise<GiteaAnswer>;
  /** A list over all of its pages. */
  all(path: string): Promise<Fields[]>;
}

const TIMEOUT_MS = 30_000;
const PAGE = 50;

/** `url` is the forge's; the answer's paths begin after `/api/v1`. */
export function giteaApi(url: string, login: Login): GiteaApi {
  const authorization =
    'token' in login
      ? `token ${login.token}`
      : `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`;

  async function ask(method: string, path: string, body?: object): Promise<GiteaAnswer> {
    const what = `${method} ${path}`;
    const request = {
      method,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const [status, text] = await fetch(`${url}/api/v1${path}`, request)
      .then(async (answer) => [answer.status, await answer.text()] as const)
      .catch((error: unknown) => {
        throw new EspalierError('PlaygroundFailed', `Gitea did not answer ${what}: ${messageOf(error)}`, {
          cause: error,
        });
      });
    const value = parsed(text);
    const said = typeof value === 'object' && value !== null ? Reflect.get(value, 'message') : undefined;
    return { status, fields: new Fields(value, what), message: typeof said === 'string' ? said : text.slice(0, 500) };
  }

  async function call(method: string, path: string, body?: object): Promise<Fields> {
    const { status, fields, message } = await ask(method, path, body);
    if (status >= 200 && status < 300) return fields;
    throw new EspalierError('PlaygroundFailed', `Gitea answered ${method} ${path} with ${status}: ${message}`, {
      data: { status },
    });
  }

  return {
    ask,
    call,
    async all(path) {
      const found: Fields[] = [];
      for (let page = 1; ; page++) {
        const some = (await call('GET', `${path}${path.includes('?') ? '&' : '?'}limit=${PAGE}&page=${page}`)).list();
        found.push(...some);
        if (some.length < PAGE) return found;
      }
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
