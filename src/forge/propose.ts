import { type Ask, isRefused, type Question } from './ask.ts';
import { MOST_PULL_REQUESTS } from './bounds.ts';
import type { Proposal, Proposed } from './forge.ts';
import { sameText } from './marker.ts';
import { type NextPage, readPages } from './pages.ts';

/** An open pull request of the branch in question, as far as it may have to be changed. */
export interface OpenOne {
  number: number;
  url: string;
  title: string;
  body: string;
}

/** How a forge lists, makes and changes pull requests. */
export interface ProposalWords {
  /** Where they are: `/repos/o/r/pulls`. */
  path: string;
  /** Asks for the open ones of the branch; a forge that can't choose lists more. */
  query: Readonly<Record<string, string | number>>;
  next: NextPage;
  items(body: unknown): unknown[];
  /** Whether an item is the one from this repository's branch into that one. */
  isIt(item: unknown): boolean;
  read(item: unknown): OpenOne;
  creation: object;
  change: { method: 'PATCH' | 'PUT'; body(item: unknown): object };
  /** The rights that reading and writing take. */
  reads: string;
  writes: string;
}

/**
 * Has a branch of the repository proposed for merging. An open pull request of it is found, and changed where it says something
 * else: to ask twice makes one, and so do two that ask at once.
 */
export async function propose(
  ask: Ask,
  words: ProposalWords,
  { title, body, head, base }: Proposal,
  name: string,
  signal: AbortSignal,
): Promise<Proposed> {
  const about = `the pull request of ${head} into ${base} in ${name}`;
  const list: Question = { method: 'GET', path: words.path, query: words.query, what: about, needs: words.reads };
  const write = { what: about, needs: words.writes, paced: true };

  async function find(): Promise<unknown> {
    const items = await readPages(ask, list, words.next, words.items, MOST_PULL_REQUESTS, signal);
    return items.find(words.isIt);
  }

  async function change(item: unknown): Promise<Proposed> {
    const { number, url, ...present } = words.read(item);
    if (present.title === title && sameText(present.body, body)) return { number, url, done: 'unchanged' };
    const { method } = words.change;
    await ask({ method, path: `${words.path}/${number}`, body: words.change.body(item), ...write }, signal);
    return { number, url, done: 'changed' };
  }

  const present = await find();
  if (present !== undefined) return await change(present);
  try {
    const { body: made } = await ask({ method: 'POST', path: words.path, body: words.creation, ...write }, signal);
    const { number, url } = words.read(made);
    return { number, url, done: 'created' };
  } catch (error) {
    // Somebody may have been faster; forges tell that in one of these ways.
    const made = isRefused(error, 400, 409, 422) ? await find() : undefined;
    if (made === undefined) throw error;
    return await change(made);
  }
}
