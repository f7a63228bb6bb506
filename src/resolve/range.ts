import semver from 'semver';

/** A range of versions as Helm and npm write them, ready to test. */
export interface VersionRange {
  readonly text: string;
  includes(version: string): boolean;
}

export type ParsedRange = { ok: true; range: VersionRange } | { ok: false; message: string };

interface Alternative {
  wanted: semver.Range;
  unwanted: semver.Range[];
}

const OPERATOR = /(<=|>=|=<|=>|!=|[<>=~^])\s+/g;
const TERM = /^(<=|>=|=<|=>|!=|[<>=~^])?v?([0-9xX*]+(?:\.[0-9xX*]+){0,2})(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
const TURNED: Record<string, string> = { '=>': '>=', '=<': '<=' };
const LONGEST = 256;

/**
 * Reads what Helm's library takes and npm's does not: commas, `!=`, and pre-releases of short versions (`>=1.29-0`).
 * As in Helm, a pre-release is in a range only when the range itself names one.
 */
export function parseRange(text: string): ParsedRange {
  const refused = (why: string): ParsedRange => ({
    ok: false,
    message: `"${text.slice(0, 60)}" is not a version range: ${why}. Write for example ">=1.29 <1.32", "~1.18" or "1.2.3".`,
  });
  if (text.trim() === '') return refused('it is empty');
  if (text.length > LONGEST) return refused(`it is longer than ${LONGEST} characters`);
  const alternatives: Alternative[] = [];
  for (const part of text.split('||')) {
    const alternative = parseAlternative(part);
    if (typeof alternative === 'string') return refused(alternative);
    alternatives.push(alternative);
  }
  return { ok: true, range: { text, includes: (version) => includes(alternatives, version) } };
}

/** Why this is no version range, or undefined when it is one. */
export function rangeFault(text: string): string | undefined {
  const parsed = parseRange(text);
  return parsed.ok ? undefined : parsed.message;
}

function parseAlternative(text: string): Alternative | string {
  const terms = text
    .replace(/(\S+)\s+-\s+(\S+)/g, '>=$1 <=$2')
    .replace(OPERATOR, '$1')
    .split(/[\s,]+/)
    .filter((term) => term !== '');
  if (terms.length === 0) return 'a side of "||" is empty';
  const wanted: string[] = [];
  const unwanted: string[] = [];
  for (const term of terms) {
    const [, sign = '', numbers = '', preRelease = ''] = TERM.exec(term) ?? [];
    if (numbers === '') return `"${term}" is not a version`;
    const version = preRelease === '' ? numbers : `${padded(numbers)}${preRelease}`;
    if (sign === '!=') unwanted.push(version);
    else wanted.push(`${TURNED[sign] ?? sign}${version}`);
  }
  const includePrerelease = terms.some((term) => (TERM.exec(term)?.[3] ?? '') !== '');
  try {
    return {
      wanted: new semver.Range(wanted.join(' ') || '*', { includePrerelease }),
      unwanted: unwanted.map((one) => new semver.Range(one, { includePrerelease })),
    };
  } catch {
    return "it can't be read";
  }
}

/** npm's ranges take a pre-release on full versions only. */
function padded(numbers: string): string {
  const parts = numbers.split('.');
  while (parts.length < 3) parts.push('0');
  return parts.map((part) => (/^[xX*]+$/.test(part) ? '0' : part)).join('.');
}

function includes(alternatives: readonly Alternative[], version: string): boolean {
  const parsed = semver.parse(version.replace(/^[vV]/, ''));
  if (parsed === null) return false;
  return alternatives.some(({ wanted, unwanted }) => wanted.test(parsed) && !unwanted.some((one) => one.test(parsed)));
}
