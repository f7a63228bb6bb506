import type { AddonFault } from './read-addon.ts';

/** What people do about the usual ones. */
const CURES: readonly [RegExp, string][] = [
  [/nil pointer evaluating/, 'give it a default under parameters, or ask inside of {{ with }}'],
  [/bad character U\+002D/, 'a name with a dash is read by {{ index . "my-name" }}'],
  [
    /has no valid (apiVersion|kind)$/,
    'each .yaml file is a manifest; what .Files.Get reads has another ending (x.yaml.txt)',
  ],
  [/is declared twice/, 'give one of the two another name, or remove it'],
  [/unexpected EOF/, 'an {{ if }}, {{ range }}, {{ with }} or {{ define }} has no {{ end }}'],
];
/** The agent says which of many it renders. */
const WHAT_IS_DONE = /^rendering \.: /;
const NOT_YAML = 'YAML parse error on ';

/** A fault that Helm tells, or the reading of what it printed, in the form of all faults. Of a chain of calls the last counts. */
export function placedFault(told: string, files: readonly string[]): AddonFault {
  const message = told.replace(WHAT_IS_DONE, '');
  const at = placeIn(message, files);
  if (at === undefined) return { file: '.', line: 1, column: 1, message: withCure(message) };
  const { file, line, column } = at;
  const isNotYaml = message.startsWith(NOT_YAML);
  const words = at.isExact || isNotYaml || message.startsWith(file) ? message.slice(at.end) : message;
  return { file, line, column, message: withCure(isNotYaml ? aboutYaml(words) : withoutFrame(words)) };
}

interface NamedPlace {
  file: string;
  line: number;
  column: number;
  isExact: boolean;
  /** Where the message goes on. */
  end: number;
}

function placeIn(message: string, files: readonly string[]): NamedPlace | undefined {
  if (files.length === 0) return undefined;
  // One name may end another.
  const names = [...files].sort((a, b) => b.length - a.length).map((name) => name.replace(/[^\w/]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\w./-])(${names.join('|')})(?::(\\d+)(?::(\\d+))?)?`, 'g');
  const found = [...message.matchAll(pattern)].map((match) => {
    const [all, file = '', line, column = '1'] = match;
    const place = { file, line: Number(line ?? 1), column: Number(column) };
    return { ...place, isExact: line !== undefined, end: match.index + all.length };
  });
  return found.findLast(({ isExact }) => isExact) ?? found[0];
}

function withoutFrame(words: string): string {
  return words.replace(/^\)?:?\s*/, '').replace(/^executing "[^"]*" at /, '');
}

function aboutYaml(words: string): string {
  const [, type] = /cannot unmarshal (\w+) into Go value of type util\.SimpleHead/.exec(words) ?? [];
  if (type !== undefined)
    return `what it renders is no Kubernetes object but ${type === 'array' ? 'a list' : `a ${type}`}`;
  return withoutFrame(words).replace(/^.*?\bline (\d+): /, 'line $1 of what it renders is not valid YAML: ');
}

function withCure(message: string): string {
  const [, cure] = CURES.find(([pattern]) => pattern.test(message)) ?? [];
  return cure === undefined ? message : `${message}: ${cure}`;
}
