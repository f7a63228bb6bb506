import { EspalierError } from '../api/index.ts';
import { oneLine } from '../api/one-line.ts';
import { at } from './shape.ts';

/** What was asked, in the words of an error. */
export interface Asked {
  host: string;
  /** "the status of commit 1f2e…": stands after "for". */
  what: string;
  /** The rights that this very call takes, in the forge's own words. */
  needs: string;
  /** The keys of the Secret that the login came from: "`token`". */
  keys: string;
}

const LONGEST_SAID = 200;

/** An answer that is no success and no limit, in our words and the forge's. `said` is free of secrets already. */
export function refusalOf(status: number, said: string, asked: Asked): EspalierError {
  const { host, what, needs, keys } = asked;
  const quoted = said === '' ? '' : `: ${said}`;
  const data = { status, said, host };
  if (status === 401) {
    return new EspalierError(
      'ForgeAuthFailed',
      `${host} does not accept the login for ${what} (401${quoted}); check ${keys} in the Secret of \`spec.forge\`: it may have ended or been revoked. It needs ${needs}.`,
      { data },
    );
  }
  if (status === 403) {
    return new EspalierError(
      'ForgeAuthFailed',
      `${host} forbids ${what} to the login in ${keys} (403${quoted}); give it ${needs}.`,
      { data },
    );
  }
  if (status >= 500 || status === 408 || status === 425) {
    return new EspalierError('ForgeUnreachable', `${host} could not answer for ${what} (${status}${quoted}).`, {
      data,
    });
  }
  const advice =
    status === 404
      ? `; forges also say this where the login in ${keys} may not see the repository: check \`spec.repository.url\`, and that it has ${needs}`
      : '';
  // What is malformed, or too much of it, stays so; what is hidden or in the way may be there the next time.
  const retry = ![400, 413, 422].includes(status);
  return new EspalierError('ForgeRefused', `${host} refuses ${what} (${status}${quoted})${advice}.`, { data, retry });
}

/** What a forge says went wrong, in one short line; empty for an answer that is not from its API. */
export function saidBy(answer: unknown): string {
  const parts = [
    at(answer, 'message'),
    at(answer, 'error.message'),
    at(answer, 'error'),
    at(answer, 'error_description'),
  ];
  const whole = [...parts, at(answer, 'errors')]
    .flatMap((part) => textsIn(part))
    .map(oneLine)
    .filter((text) => text !== '');
  return [...new Set(whole)].join('; ');
}

/** Shortened after secrets are hidden, never before: half of one would not be known. */
export function shortened(said: string): string {
  return said.length <= LONGEST_SAID ? said : `${said.slice(0, LONGEST_SAID - 1)}…`;
}

/** Messages come as text, as lists, and as lists by field: `{"base": ["is invalid"]}`. */
function textsIn(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 3) return [];
  if (Array.isArray(value)) return value.slice(0, 5).flatMap((item) => textsIn(item, depth + 1));
  const message = at(value, 'message');
  if (typeof message === 'string' && message !== '') return [message];
  return Object.entries(value)
    .slice(0, 5)
    .flatMap(([field, inner]) => textsIn(inner, depth + 1).map((text) => `${field} ${text}`));
}
