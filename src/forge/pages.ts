import type { Answer, Ask, Question } from './ask.ts';
import { at, otherShape } from './shape.ts';

/** What to ask for the next page; undefined after the last. */
export type NextPage = (answer: Answer, asked: Question) => Question | undefined;

/** `most` is a bound, not a promise: what would go past it is not asked for. */
export async function readPages<T>(
  ask: Ask,
  question: Question,
  next: NextPage,
  items: (body: unknown) => T[],
  most: number,
  signal: AbortSignal,
): Promise<T[]> {
  const all: T[] = [];
  const seen = new Set<string>();
  for (let page: Question | undefined = question; page !== undefined && all.length < most; ) {
    const key = `${page.path} ${JSON.stringify(page.query)}`;
    if (seen.has(key)) throw otherShape('next page', 'another page');
    seen.add(key);
    const answer: Answer = await ask(page, signal);
    all.push(...items(answer.body));
    page = next(answer, page);
  }
  return all.slice(0, most);
}

/** The `Link` header of GitHub, GitLab, Gitea and Forgejo. */
export function byLink(answer: Answer, asked: Question): Question | undefined {
  return withQueryOf(/<([^<>]+)>\s*;[^,<]*\brel="?next"?/.exec(answer.headers.link ?? '')?.[1], asked);
}

/** The field `next` of Bitbucket Cloud. */
export function byNextField(answer: Answer, asked: Question): Question | undefined {
  const found = at(answer.body, 'next');
  return withQueryOf(typeof found === 'string' ? found : undefined, asked);
}

/** Only the query counts: a forge writes links with the address that it believes to have, which need not be the one we reach it by. */
function withQueryOf(link: string | undefined, asked: Question): Question | undefined {
  const url = link === undefined ? null : URL.parse(link, 'https://forge.invalid');
  return url === null ? undefined : { ...asked, query: Object.fromEntries(url.searchParams) };
}

/** `isLastPage` and `nextPageStart` of Bitbucket Data Center. */
export function byStart(answer: Answer, asked: Question): Question | undefined {
  const start = at(answer.body, 'nextPageStart');
  if (at(answer.body, 'isLastPage') !== false || typeof start !== 'number') return undefined;
  return { ...asked, query: { ...asked.query, start } };
}
