import { refused } from './errors.ts';

interface Rule {
  negate: boolean;
  foldersOnly: boolean;
  matches(path: string): boolean;
}

/** True for a file or folder that a chart's .helmignore leaves out, as `helm package` does. Below a folder left out nothing is looked at. */
export type Ignores = (path: string, isFolder: boolean) => boolean;

const MAX_CHARACTERS = 64 * 1024;
/** What Helm always leaves out. */
const ALWAYS = 'templates/.?*';

export function parseHelmignore(text: string): Ignores {
  if (text.length > MAX_CHARACTERS)
    throw refused(`The .helmignore of the chart has more than ${MAX_CHARACTERS} characters.`);
  const rules = [...text.replace(/^\ufeff/, '').split(/\r?\n/), ALWAYS].flatMap(parseRule);
  return (path, isFolder) => {
    for (const rule of rules) {
      if (rule.negate) {
        // As in Helm: a negative rule leaves out everything that it does not match.
        if ((rule.foldersOnly && !isFolder) || !rule.matches(path)) return true;
        continue;
      }
      if ((!rule.foldersOnly || isFolder) && rule.matches(path)) return true;
    }
    return false;
  };
}

function parseRule(line: string): Rule[] {
  let text = line.trim();
  if (text === '' || text.startsWith('#')) return [];
  if (text.includes('**'))
    throw refused('The .helmignore of the chart has a rule with `**`, which Helm does not know; use single stars.');
  const negate = text.startsWith('!');
  if (negate) text = text.slice(1);
  const foldersOnly = text.endsWith('/');
  if (foldersOnly) text = text.slice(0, -1);
  const rooted = text.startsWith('/');
  const matchesGlob = matcherOf(rooted ? text.slice(1) : text);
  const whole = rooted || text.includes('/');
  const matches = (path: string): boolean => matchesGlob(whole ? path : path.slice(path.lastIndexOf('/') + 1));
  return [{ negate, foldersOnly, matches }];
}

type Token = { is: 'star' } | { is: 'one'; fits(char: string): boolean };

/** Go's filepath.Match: `*` and `?` stay within a name, `[a-z]` and `[^a-z]`, a backslash before what means itself. */
function matcherOf(glob: string): (path: string) => boolean {
  const names = glob.split('/').map(tokensOf);
  return (path) => {
    const parts = path.split('/');
    return parts.length === names.length && names.every((tokens, at) => matchesName(tokens, [...(parts[at] ?? '')]));
  };
}

function tokensOf(name: string): Token[] {
  const tokens: Token[] = [];
  for (const [all, escaped, caret, set] of name.matchAll(/\\(.)|\[(\^?)((?:\\.|[^\]\\])+)\]|[\s\S]/gu)) {
    if (all === '*') tokens.push({ is: 'star' });
    else if (all === '?') tokens.push({ is: 'one', fits: () => true });
    else if (set !== undefined) tokens.push({ is: 'one', fits: setOf(set, caret === '^') });
    else if (all === '[')
      throw refused(
        `The .helmignore of the chart has a rule that can't be read: ${JSON.stringify(name.slice(0, 80))}.`,
      );
    else tokens.push({ is: 'one', fits: (char) => char === (escaped ?? all) });
  }
  return tokens;
}

function setOf(set: string, negate: boolean): (char: string) => boolean {
  const ranges = [...set.matchAll(/(\\.|[^\\])(?:-(\\.|[^\\]))?/gu)].map(([, low = '', high = low]) => ({
    low: low.replace(/^\\/, ''),
    high: high.replace(/^\\/, ''),
  }));
  return (char) => ranges.some(({ low, high }) => low <= char && char <= high) !== negate;
}

/** Never goes back further than the last star, so no rule can be made to take long. */
function matchesName(tokens: Token[], name: string[]): boolean {
  let token = 0;
  let at = 0;
  let star: { token: number; at: number } | undefined;
  while (at < name.length) {
    const next = tokens[token];
    if (next?.is === 'star') {
      star = { token, at };
      token += 1;
    } else if (next?.fits(name[at] ?? '') === true) {
      token += 1;
      at += 1;
    } else if (star !== undefined) {
      star.at += 1;
      at = star.at;
      token = star.token + 1;
    } else return false;
  }
  return tokens.slice(token).every(({ is }) => is === 'star');
}
