export type SafePattern = { ok: true; matches(text: string): boolean } | { ok: false; why: string };

const LONGEST_PATTERN = 512;
/** What is left of backtracking is at most cubic in this: some 20 million steps. */
const LONGEST_TEXT = 512;
const MOST_REPETITIONS = 3;

const known = new Map<string, SafePattern>();

/**
 * A regular expression out of a repository, if it can't be made to run for ever: no repetition of what repeats or
 * branches, no references, no looking around. Longer texts than any name or address never match.
 */
export function safePattern(pattern: string): SafePattern {
  const before = known.get(pattern);
  if (before !== undefined) return before;
  if (known.size > 1000) known.clear();
  const made = compile(pattern);
  known.set(pattern, made);
  return made;
}

function compile(pattern: string): SafePattern {
  if (pattern.length > LONGEST_PATTERN) return { ok: false, why: `it is longer than ${LONGEST_PATTERN} characters` };
  const why = dangerIn(pattern);
  if (why !== undefined) return { ok: false, why };
  try {
    const regExp = new RegExp(pattern, 'u');
    return { ok: true, matches: (text) => text.length <= LONGEST_TEXT && regExp.test(text) };
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : 'it is no regular expression' };
  }
}

interface Group {
  repeats: boolean;
  branches: boolean;
}

const UNBOUNDED = /^(?:[*+]|\{\d+,\})/;
/** A repetition that may run only a few times can't make much of what is inside. */
const MANY = /^\{\d*,?(?:\d{3,}|[2-9]\d)\}/;

/** Why matching could take longer than a moment. Conservative: some harmless ones are refused too. */
function dangerIn(pattern: string): string | undefined {
  const open: Group[] = [{ repeats: false, branches: false }];
  let unbounded = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const rest = pattern.slice(at);
    let closed: Group | undefined;
    if (pattern[at] === '\\') {
      if (/^\\(?:[1-9]|k)/.test(rest)) return 'it refers back to what it has matched';
      at += 1;
    } else if (pattern[at] === '[') {
      const end = /^\[(?:\\.|[^\]\\])*\]/su.exec(rest)?.[0];
      if (end === undefined) return 'a "[" is not closed';
      at += end.length - 1;
    } else if (pattern[at] === '(') {
      if (/^\(\?(?!:)/.test(rest) && !/^\(\?<[A-Za-z]/.test(rest)) return 'it looks ahead or behind';
      open.push({ repeats: false, branches: false });
      continue;
    } else if (pattern[at] === '|') {
      const group = open.at(-1);
      if (group !== undefined) group.branches = true;
      continue;
    } else if (pattern[at] === ')') {
      closed = open.pop();
      if (closed === undefined || open.length === 0) return 'a ")" was not opened';
    }
    const after = pattern.slice(at + 1);
    const isRepeated = UNBOUNDED.test(after) || MANY.test(after);
    if (closed !== undefined && isRepeated && (closed.repeats || closed.branches))
      return 'it repeats a group that itself repeats or branches';
    const group = open.at(-1);
    if (group !== undefined && (isRepeated || closed?.repeats)) group.repeats = true;
    if (UNBOUNDED.test(after)) unbounded += 1;
    if (unbounded > MOST_REPETITIONS) return `it has more than ${MOST_REPETITIONS} unlimited repetitions`;
  }
  return open.length > 1 ? 'a "(" is not closed' : undefined;
}
