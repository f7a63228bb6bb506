/**
 * Syntaxes that several fields share. Each is RE2 and JavaScript at once and holds neither backslash nor quote, because
 * it stands inside a CEL string literal and inside JSON Schemas.
 */
export const DURATION = '([0-9]{1,9}([.][0-9]{1,9})?(ms|s|m|h))+';
export const NO_TIME = '(0+([.]0+)?(ms|s|m|h))+';

/** How often something is looked at: whole seconds and longer, so that a slip can't make a busy loop. */
export const INTERVAL = '([0-9]{1,9}(s|m|h))+';

function cronField(value: string, also?: string): string {
  const item = `([*](/[1-9][0-9]?)?|${value}(-${value}(/[1-9][0-9]?)?)?${also === undefined ? '' : `|${also}`})`;
  return `${item}(,${item})*`;
}

const SIXTY = '[0-5]?[0-9]';
const HOUR = '([01]?[0-9]|2[0-3])';
const DAY_OF_MONTH = '(0?[1-9]|[12][0-9]|3[01])';
const MONTH =
  '(0?[1-9]|1[0-2]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)';
const WEEKDAY = '([0-7]|sun|mon|tue|wed|thu|fri|sat|SUN|MON|TUE|WED|THU|FRI|SAT)';
const NICKNAME = '@(yearly|annually|monthly|weekly|daily|midnight|hourly)';

/** Five fields, or six with seconds first: a subset of what node-cron runs. */
export const CRON = `(${NICKNAME}|(${cronField(SIXTY)} )?${[
  cronField(SIXTY),
  cronField(HOUR),
  cronField(DAY_OF_MONTH, 'L'),
  cronField(MONTH),
  cronField(WEEKDAY, '[0-7](L|#[1-5])'),
].join(' ')})`;

const PART = '([0-9]{1,9}|[xX*])';
const LABELS = '[0-9A-Za-z-]+([.][0-9A-Za-z-]+)*';
const COMPARATOR = `((<=|>=|!=|<|>|=|[~^]) ?)?v?${PART}([.]${PART}){0,2}(-${LABELS})?([+]${LABELS})?`;

/** A version or a range of versions as Helm and npm write them: `1.2.3`, `~1.18`, `>=1.29 <1.32`, `1.x || >=3`. */
export const RANGE = `${COMPARATOR}((, ?| - | ?[|][|] ?| )${COMPARATOR})*`;

const SEGMENT = '([^./][^/]*|[.][^./][^/]*|[.][.][^/]+|[.])';

/** A path inside a repository: relative, without `..`. */
export const PATH = `${SEGMENT}(/${SEGMENT})*/?`;

/** RFC 6901: `~0` stands for `~`, `~1` for `/`. */
export const JSON_POINTER = '(/([^~/]|~0|~1)*)+';

export const DNS_LABEL = '[a-z0-9]([a-z0-9-]*[a-z0-9])?';
export const DNS_SUBDOMAIN = `${DNS_LABEL}([.]${DNS_LABEL})*`;
export const OBJECT_ID = '([0-9a-f]{40}|[0-9a-f]{64})';
