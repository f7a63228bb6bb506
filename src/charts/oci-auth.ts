import { EspalierError } from '../api/index.ts';
import { authorizationOf } from './credentials.ts';
import { readAll } from './download.ts';
import { refused } from './errors.ts';
import { parsePlace } from './place.ts';
import { mapIn } from './text-yaml.ts';
import { type Access, type Answer, complain, type Transport } from './transport.ts';

export interface Challenge {
  scheme: 'basic' | 'bearer';
  parameters: Record<string, string>;
}

/** What a registry wants, from its WWW-Authenticate header; undefined for what is not understood. */
export function parseChallenge(header: string): Challenge | undefined {
  const [, scheme = ''] = /^\s*(basic|bearer)\b/i.exec(header) ?? [];
  if (scheme === '') return undefined;
  const parameters: Record<string, string> = {};
  for (const [, key = '', quoted, plain] of header.matchAll(/([a-z_]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi)) {
    parameters[key.toLowerCase()] = quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '';
  }
  return { scheme: scheme.toLowerCase() === 'basic' ? 'basic' : 'bearer', parameters };
}

export interface Grant {
  authorization: string;
  until: number;
}

const TOKEN_BYTES = 1024 * 1024;
const DEFAULT_SECONDS = 60;
/** A token is not used in its last moments. */
const MARGIN_SECONDS = 10;

/**
 * Answers a challenge for one repository. A registry may name another host for its tokens; the credentials are the
 * registry's, so it may say where they are proven, but only over https when it is reached over https itself.
 */
export async function answerChallenge(
  transport: Transport,
  access: Access,
  repository: string,
  refusal: Answer,
  signal: AbortSignal,
  now: number,
  actions = 'pull',
): Promise<Grant | undefined> {
  const login = authorizationOf(access.credentials);
  const challenge = parseChallenge(refusal.headers['www-authenticate'] ?? '');
  if (challenge === undefined) return undefined;
  if (challenge.scheme === 'basic') {
    return login === undefined ? undefined : { authorization: login, until: Number.POSITIVE_INFINITY };
  }
  const { realm = '', service } = challenge.parameters;
  const url = parsePlace(realm, transport.policy);
  if (access.origin.startsWith('https:') && url.protocol !== 'https:') {
    throw refused(
      `The registry ${access.origin} sends for a token to ${url.origin}, which is not https; it is not asked there.`,
    );
  }
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', `repository:${repository}:${actions}`);
  const answer = await transport.get(
    { url, authorization: login, signal },
    { ...access, origin: url.origin === access.origin ? access.origin : '' },
  );
  if (answer.status !== 200) return complain(answer, `token for ${repository}`, login !== undefined);
  const { token, access_token, expires_in } = mapIn(
    parseJson(await readAll(answer, TOKEN_BYTES, 'The answer with a token')),
  );
  const given = typeof token === 'string' && token !== '' ? token : access_token;
  if (typeof given !== 'string' || !/^[\x21-\x7e]+$/.test(given)) {
    throw new EspalierError('ChartFetchFailed', `${url.host} answered without a token for ${repository}.`);
  }
  const seconds = typeof expires_in === 'number' && expires_in > 0 ? expires_in : DEFAULT_SECONDS;
  return { authorization: `Bearer ${given}`, until: now + Math.max(1, seconds - MARGIN_SECONDS) * 1000 };
}

export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
