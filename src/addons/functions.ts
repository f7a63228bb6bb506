import { elementOf, type Fields, holdsRoot, itemsOf, type Kind, OTHER } from './kinds.ts';
import { consume, settled, type Value } from './value.ts';

export interface CallParts {
  parameters: Kind;
  called(definition: string, data: Value): void;
}

/** They make a whole number of what they get, or do not care. */
const ANY_NUMBER = new Set([
  ...['int', 'int64', 'float64', 'add', 'add1', 'sub', 'mul', 'div', 'mod', 'max', 'min', 'not', 'empty'],
  ...['toYaml', 'toJson', 'mustToJson', 'toPrettyJson', 'mustToPrettyJson', 'toRawJson', 'mustToRawJson'],
]);
const MERGES: readonly string[] = ['merge', 'mustMerge'];
const OVERWRITES: readonly string[] = ['mergeOverwrite', 'mustMergeOverwrite'];

/** What a function gives for its arguments, the piped one last; what has to be written otherwise in them is noted. */
export function callOf(
  name: string,
  args: readonly Value[],
  literals: readonly (string | undefined)[],
  parts: CallParts,
): Kind {
  const [first, second] = args;
  const last = args.at(-1);
  switch (name) {
    case 'include':
      if (first !== undefined && second !== undefined) {
        // A name that is put together can be that of a file, which takes what a file takes.
        if (literals[0] === undefined) settled(second);
        else parts.called(literals[0], second);
      }
      return OTHER;
    case 'tpl':
      if (first !== undefined) consume(first);
      if (second?.kind.is === 'root') second.all();
      else if (second !== undefined) consume(second);
      return OTHER;
    case 'dict':
      return { is: 'map', fields: pairsOf(args, literals) };
    case 'list':
    case 'tuple':
      return { is: 'tuple', items: args.map(settled) };
    case 'deepCopy':
    case 'mustDeepCopy':
      return first === undefined ? OTHER : settled(first);
    case 'index':
    case 'get':
      return first === undefined ? OTHER : stepInto(parametersOf(first, parts), args.slice(1), literals.slice(1));
    case 'first':
    case 'last':
      return last === undefined ? OTHER : firstOrLast(name, last);
    case 'default':
    case 'required':
      for (const one of args) consume(one);
      return last === undefined || last.kind.is === 'integer' || last.kind.is === 'root' ? OTHER : last.kind;
  }
  if (MERGES.includes(name) || OVERWRITES.includes(name)) {
    const at = args.findIndex(({ kind }) => kind.is === 'root');
    const over = MERGES.includes(name) ? args.slice(0, at) : args.slice(at + 1);
    const isAllOver = at >= 0 && over.length === args.length - 1 && over.every(({ kind }) => kind.is === 'map');
    const more = Object.assign({}, ...over.map(({ kind }) => (kind.is === 'map' ? kind.fields : {}))) as Fields;
    if (isAllOver) return { is: 'root', more };
  }
  for (const one of args) if (one.kind.is === 'root' || !ANY_NUMBER.has(name)) consume(one);
  return OTHER;
}

function pairsOf(args: readonly Value[], literals: readonly (string | undefined)[]): Fields {
  const fields: [string, Kind][] = [];
  for (let at = 0; at + 1 < args.length; at += 2) {
    const [key, value] = [literals[at], args[at + 1]];
    if (value === undefined) continue;
    if (key !== undefined) fields.push([key, settled(value)]);
    else if (holdsRoot(value.kind)) consume(value);
  }
  return Object.fromEntries(fields);
}

function parametersOf(value: Value, { parameters }: CallParts): Kind {
  if (value.kind.is !== 'root') return value.kind;
  value.narrow();
  return parameters;
}

function stepInto(kind: Kind, keys: readonly Value[], literals: readonly (string | undefined)[]): Kind {
  let found = kind;
  keys.forEach((key, at) => {
    consume(key);
    const literal = literals[at];
    if (found.is === 'map') {
      const fields: Fields = found.fields;
      found =
        literal === undefined ? elementOf(found) : Object.hasOwn(fields, literal) ? (fields[literal] ?? OTHER) : OTHER;
    } else if (found.is === 'tuple' && literal !== undefined) found = found.items[Number(literal)] ?? OTHER;
    else found = itemsOf(found) ?? OTHER;
  });
  return found;
}

function firstOrLast(name: string, value: Value): Kind {
  if (value.kind.is === 'tuple') return (name === 'first' ? value.kind.items[0] : value.kind.items.at(-1)) ?? OTHER;
  return itemsOf(value.kind) ?? OTHER;
}
