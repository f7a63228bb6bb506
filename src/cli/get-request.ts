import { EspalierError } from '../api/errors.ts';
import { kindOfWord, parseTargets, type TargetKind } from './target.ts';

/** What `espalier get …` is asked for. */
export interface GetRequest {
  kinds: TargetKind[];
  /** Undefined: all of these kinds. */
  names?: { kind: TargetKind; name: string }[];
}

const BOTH: TargetKind[] = ['Sync', 'Plugin'];

/** Reads `get`, `get plugins`, `get syncs,plugins`, `get plugin web ingress` and `get sync/platform plugin/web`. */
export function parseGet(words: readonly string[]): GetRequest {
  const [first, ...names] = words;
  if (first === undefined) return { kinds: BOTH };
  if (first.includes('/')) return named(words);
  const kinds = kindsOf(first);
  if (names.length === 0) return { kinds };
  const [only, ...others] = kinds;
  if (only === undefined || others.length > 0) {
    throw wrong(`names go with one kind: "espalier get syncs ${names.join(' ')}" or "espalier get plugins …"`);
  }
  return named([first, ...names]);
}

function named(words: readonly string[]): GetRequest {
  const names = parseTargets(words).map(({ kind, name }) => {
    if (kind === undefined) throw wrong(`which kind is "${name}"? Say sync/${name} or plugin/${name}`);
    return { kind, name };
  });
  return { kinds: BOTH.filter((kind) => names.some((target) => target.kind === kind)), names };
}

function kindsOf(word: string): TargetKind[] {
  if (word.toLowerCase() === 'all') return BOTH;
  const kinds = word.split(',').map((part) => {
    const kind = kindOfWord(part);
    if (kind === undefined) {
      throw wrong(
        `there is no kind "${part}": say syncs, plugins or all; for one by name: "espalier get plugin ${part}"`,
      );
    }
    return kind;
  });
  return BOTH.filter((kind) => kinds.includes(kind));
}

function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
