import { EspalierError } from '../api/errors.ts';

/** The kinds that a person names on the command line. */
export type TargetKind = 'Sync' | 'Plugin';

/** What a person named. Without a kind: whichever has this name. */
export interface Target {
  kind?: TargetKind;
  name: string;
}

const WORD = /^(?:(syncs?|syn)|(plugins?|plg))(?:\.(?:v1alpha1\.)?espalier\.dev)?$/i;

/** The kind that a word stands for, in any of the spellings that kubectl takes. */
export function kindOfWord(word: string): TargetKind | undefined {
  const match = WORD.exec(word);
  if (match === null) return undefined;
  return match[1] === undefined ? 'Plugin' : 'Sync';
}

/** How people name it: `sync/platform`. */
export function shown(target: { kind?: string; name: string }): string {
  return target.kind === undefined ? target.name : `${target.kind.toLowerCase()}/${target.name}`;
}

/** Reads `sync/platform plugin/web`, `plugin web ingress` or `platform`. A kind alone is a name: a Sync may be called sync. */
export function parseTargets(words: readonly string[]): Target[] {
  const [first = '', ...rest] = words;
  const kind = kindOfWord(first);
  if (kind === undefined || rest.length === 0) return words.map(parseOne);
  const slash = rest.find((name) => name.includes('/'));
  if (slash !== undefined) throw wrong(`"${first} ${slash}": say either "${first} <name>" or "${slash}"`);
  return rest.map((name) => ({ kind, name }));
}

function parseOne(word: string): Target {
  const [before = '', name, ...more] = word.split('/');
  if (word === '') throw wrong('an empty name: say sync/<name> or plugin/<name>');
  if (name === undefined) return { name: word };
  const kind = kindOfWord(before);
  if (kind === undefined) throw wrong(`there is no kind "${before}": say sync/<name> or plugin/<name>`);
  if (name === '' || more.length > 0) throw wrong(`"${word}" names nothing: say ${kind.toLowerCase()}/<name>`);
  return { kind, name };
}

function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
