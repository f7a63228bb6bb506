import type { Node } from './go-tree.ts';
import { holdsRoot, join, type Kind } from './kinds.ts';

/** A definition is called with this. */
export interface Call {
  name: string;
  data: Kind;
  path: string;
  at: number;
}

/** `define` and `block` of all files, and what each is called with. */
export class Definitions {
  readonly #bodies = new Map<string, { name: string; body: Node[] }[]>();
  #calls: readonly Call[] = [];
  #data = new Map<string, Kind>();
  areSettled = false;

  constructor(files: readonly { path: string; nodes: readonly Node[] }[]) {
    for (const { path, nodes } of files) this.#bodies.set(path, [...definedIn(nodes)]);
  }

  of(path: string): readonly { name: string; body: Node[] }[] {
    return this.#bodies.get(path) ?? [];
  }

  dataOf(name: string): Kind | undefined {
    return this.#data.get(name);
  }

  /** Takes in what a round of looking found. */
  learn(calls: readonly Call[]): void {
    const data = new Map<string, Kind>();
    for (const call of calls) {
      const known = data.get(call.name);
      data.set(call.name, known === undefined ? call.data : join(known, call.data));
    }
    this.areSettled = JSON.stringify([...data]) === JSON.stringify([...this.#data]);
    this.#calls = calls;
    this.#data = data;
  }

  /** Calls whose data is told as the parameters here and as something else there: one text can't serve both. */
  conflicts(): (Call & { message: string })[] {
    return this.#calls.flatMap((call) => {
      const settled = this.#data.get(call.name);
      if (settled === undefined || !holdsRoot(call.data) || keepsRoot(call.data, settled)) return [];
      const message = `"${call.name}" is called with the parameters here, and with something else at another place: give it the same at each, for instance a dict`;
      return [{ ...call, message }];
    });
  }
}

function* definedIn(nodes: readonly Node[]): Generator<{ name: string; body: Node[] }> {
  for (const node of nodes) {
    if (node.is === 'define' || node.is === 'block') yield { name: node.name, body: node.body };
    if ('body' in node) yield* definedIn(node.body);
    if ('otherwise' in node) yield* definedIn(node.otherwise);
  }
}

function keepsRoot(called: Kind, settled: Kind): boolean {
  if (called.is === 'root') return settled.is === 'root';
  if (called.is === 'map')
    return (
      settled.is === 'map' &&
      Object.entries(called.fields).every(
        ([name, kind]) => !holdsRoot(kind) || keepsRoot(kind, settled.fields[name] ?? kind),
      )
    );
  if (called.is === 'tuple') return settled.is === 'tuple' || settled.is === 'list';
  return true;
}
