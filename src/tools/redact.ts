const MASK = '[redacted]';
/** Shorter than this, one line of a longer secret is too common a text to hide by itself. */
const SHORTEST_LINE = 6;
/** Below four bytes an unaligned base64 form has too few fixed characters to be told from chance. */
const SHORTEST_UNALIGNED = 4;

/**
 * Makes a function that hides every secret in a text: as it is, base64 (also in the middle of a longer encoded text),
 * URL-encoded and JSON-escaped, in any mix. Each longer line of a multi-line secret is hidden by itself too.
 */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const pieces = new Set(secrets.flatMap(piecesOf));
  const patterns = [...pieces].sort((a, b) => b.length - a.length).flatMap(patternsOf);
  if (patterns.length === 0) return (text) => text;
  const any = new RegExp(patterns.join('|'), 'gu');
  return (text) => text.replace(any, MASK);
}

/** The passwords inside URLs of an environment (proxies, module proxies), for `redactor`. */
export function secretsInUrls(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.values(env).flatMap((value) =>
    [...(value ?? '').matchAll(/:\/\/([^/@\s:]*):?([^/@\s]*)@/g)].flatMap(([, user = '', password = '']) => {
      const secret = password || user;
      return secret === '' ? [] : [decoded(secret)];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function piecesOf(secret: string): string[] {
  const lines = secret.split('\n').map((line) => line.trim());
  return [secret, secret.trim(), ...lines.filter((line) => line.length >= SHORTEST_LINE)].filter(
    (piece) => piece !== '',
  );
}

function patternsOf(secret: string): string[] {
  return [[...secret].map(anyFormOf).join(''), ...base64FormsOf(Buffer.from(secret))];
}

/** One character raw, percent-encoded, or escaped as in JSON; JSON within JSON repeats the backslashes. */
function anyFormOf(character: string): string {
  if (/^[A-Za-z0-9]$/.test(character)) return character;
  const bytes = [...Buffer.from(character)].map((byte) => `%${anyCase(byte.toString(16).padStart(2, '0'))}`);
  const units = character.split('').map((unit) => `\\\\+u${anyCase(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`);
  return `(?:${[rawForms(character), bytes.join(''), units.join('')].join('|')})`;
}

function rawForms(character: string): string {
  switch (character) {
    case '\n':
      return '\\r?\\n[ \\t]*|\\\\+n';
    case '\r':
      return '\\r|\\\\+r';
    case '\t':
      return '\\t|\\\\+t';
    case ' ':
      return ' |\\+';
    case '\\':
      return '\\\\+';
    default:
      return `\\\\*${literal(character)}`;
  }
}

/**
 * Where a secret begins inside an encoded text decides how it looks: there are three alignments. Of each, only the
 * characters that depend on nothing but the secret are looked for; the few around them go too, as they hold bits of it.
 */
function base64FormsOf(bytes: Buffer): string[] {
  if (bytes.length < SHORTEST_UNALIGNED) return [base64Literal(bytes.toString('base64'))];
  return [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const first = offset === 0 ? 0 : offset + 1;
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    return `[A-Za-z0-9+/_-]{0,${first}}${base64Literal(text.slice(first, end))}[A-Za-z0-9+/_-]{0,3}={0,2}`;
  });
}

/** Both alphabets of base64, and the percent-encoded form of what a URL can't hold. */
function base64Literal(text: string): string {
  return text.replace(/[+/=]/g, (character) => {
    if (character === '+') return '(?:[+-]|%2[Bb])';
    return character === '/' ? '(?:[/_]|\\\\+/|%2[Ff])' : '(?:=|%3[Dd])';
  });
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function literal(character: string): string {
  return /[\^$\\.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}
