import type { StatusState } from '../../../src/forge/forge.ts';

/** What a made forge keeps, in words of no forge: each of them says it in its own. */
export interface ForgeState {
  /** By commit, in the order in which they were said. */
  statuses: Map<string, Said[]>;
  pulls: Pull[];
  comments: Note[];
  hooks: HookConfig[];
  /** What accounts may do; who is missing exists nowhere. */
  people: Map<string, 'read' | 'write' | 'admin'>;
  /** Who the login belongs to. */
  self: string;
  /** False when the login may not see the repository. */
  visible: boolean;
  /** False when the login may read and not write. */
  mayPropose: boolean;
  nextId: number;
}

export interface Said {
  context: string;
  state: StatusState | string;
  description: string;
  url?: string | undefined;
  /** All that was sent, for forges that take more. */
  sent: Record<string, unknown>;
}

export interface Pull {
  number: number;
  title: string;
  author: string;
  state: 'open' | 'closed' | 'merged';
  commit: string;
  branch: string;
  base: string;
  fork: boolean;
  /** Its description. */
  body: string;
  /** How often it was changed. */
  version: number;
}

export interface Note {
  id: number;
  number: number;
  author: string;
  body: string;
  createdAt: number;
  updatedAt: number;
  version: number;
}

export interface HookConfig {
  id: string;
  url: string;
  /** As it was sent. */
  sent: Record<string, unknown>;
}

export const COMMIT = '1f2e3d4c5b6a79880123456789abcdef01234567';

export function newState(): ForgeState {
  return {
    statuses: new Map(),
    pulls: [],
    comments: [],
    hooks: [],
    people: new Map([
      ['espalier-bot', 'admin'],
      ['ada', 'admin'],
      ['wilma', 'write'],
      ['rita', 'read'],
    ]),
    self: 'espalier-bot',
    visible: true,
    mayPropose: true,
    nextId: 100,
  };
}

/** The id of a commit of its own for each number. */
export function commitOf(number: number): string {
  return number.toString(16).padStart(8, '0').repeat(5);
}

export function addPull(state: ForgeState, pull: Partial<Pull> = {}): Pull {
  const number = pull.number ?? state.pulls.length + 1;
  const added: Pull = {
    number,
    title: `Change ${number}`,
    author: 'wilma',
    state: 'open',
    commit: commitOf(number),
    branch: `topic-${number}`,
    base: 'main',
    fork: false,
    body: '',
    version: 0,
    ...pull,
  };
  state.pulls.push(added);
  return added;
}

/** Opens one as a forge does it for its API; undefined where one of the same branches is open already. */
export function proposePull(
  state: ForgeState,
  pull: Pick<Pull, 'title' | 'body' | 'branch' | 'base'>,
): Pull | undefined {
  const same = (one: Pull): boolean => one.branch === pull.branch && one.base === pull.base;
  if (state.pulls.some((one) => one.state === 'open' && !one.fork && same(one))) return undefined;
  return addPull(state, { ...pull, author: state.self });
}

export function changePull(pull: Pull, title: unknown, body: unknown): void {
  pull.title = String(title);
  pull.body = String(body);
  pull.version += 1;
}

export function addNote(state: ForgeState, note: Partial<Note> & { number: number }): Note {
  state.nextId += 1;
  const createdAt = note.createdAt ?? Date.parse('2026-11-18T10:00:00Z') + state.nextId * 1000;
  const added = {
    id: state.nextId,
    author: state.self,
    body: '',
    createdAt,
    updatedAt: createdAt,
    version: 0,
    ...note,
  };
  state.comments.push(added);
  return added;
}

export function changeNote(note: Note, body: string): void {
  note.body = body;
  note.updatedAt += 60_000;
  note.version += 1;
}
