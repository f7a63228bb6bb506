import { refused } from './errors.ts';

interface Rule {
  negate: boolean;
  foldersOnly: boolean;
  matches(path: string): boolean;
}

/** True for a file or folder that a chart's .helmignore leaves out, as `helm package` does. Below a folder left out nothing is looked at. */
export type Ignores = (path: string, isFolder: boolean) => boolean;

/** What Helm always leaves out. */
const ALWAYS = 'templates/.?*';

export function parseHelmignore(text: string): Ignores {
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
  const pattern = patternOf(rooted ? text.slice(1) : text);
  const whole = rooted || text.includes('/');
  const matches = (path: string): boolean => pattern.test(whole ? path : path.slice(path.lastIndexOf('/') + 1));
  return [{ negate, foldersOnly, matches }];
}

/** Go's filepath.Match: `*` and `?` stay within a name, `[a-z]` and `[^a-z]`, a backslash before what means itself. */
function patternOf(glob: string): RegExp {
  const source = glob.replace(
    /\\(.)|\[(\^?)((?:\\.|[^\]\\])+)\]|[*?]|[.+^${}()|[\]\\]/g,
    (all, escaped, caret, set) => {
      if (escaped !== undefined) return literal(escaped);
      if (set !== undefined) return `[${caret}${String(set).replace(/\[/g, '\\[')}]`;
      if (all === '*') return '[^/]*';
      return all === '?' ? '[^/]' : literal(all);
    },
  );
  try {
    return new RegExp(`^${source}$`, 'su');
  } catch {
    throw refused(`The .helmignore of the chart has a rule that can't be read: ${JSON.stringify(glob.slice(0, 80))}.`);
  }
}

function literal(char: string): string {
  return /[.*+?^${}()|[\]\\/]/.test(char) ? `\\${char}` : char;
}
