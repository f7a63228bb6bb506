import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../api/index.ts';
import type { ShownPull } from './pulls.ts';
import type { PlaygroundForge } from './serve.ts';
import { tourChange } from './tour-change.ts';
import { TourNews, type TourSight } from './tour-news.ts';

export interface TourOptions {
  forge: PlaygroundForge;
  write(text: string): void;
  signal: AbortSignal;
  /** Between two looks while there is news. */
  everyMs?: number;
  /** So long without an answer of the agent is said to be long. */
  patienceMs?: number;
}

const BRANCH = 'tour';
const EVERY_MS = 1_000;
const PATIENCE_MS = 60_000;
/** When nothing has come for as long as its patience, it looks this many times less often. */
const SLOWER = 5;

/**
 * Opens a pull request as a colleague would, and tells what the agent answers: until the signal, since what people do
 * next (approve, merge) is answered too. Whatever fails is told as well; it is only a tour.
 */
export async function runTour(options: TourOptions): Promise<void> {
  const { write, signal } = options;
  try {
    const pull = await propose(options);
    await follow(options, pull);
  } catch (error) {
    if (!signal.aborted) write(`The tour ends here: ${messageOf(error)}\n`);
  }
}

async function propose({ forge, write }: TourOptions): Promise<ShownPull> {
  const { colleague } = forge;
  await colleague.copy.fetch();
  const { files, what } = await tourChange((path) => colleague.copy.read('main', path));
  const title = 'A notice board, a larger session cache, fewer backups';
  await colleague.push(files, { branch: BRANCH, message: title });
  const body = what.map((one) => `- ${one}\n`).join('');
  const pull = await colleague.openPull({ branch: BRANCH, title, body });
  write(`\nA colleague proposes a change: ${pull.page}\n`);
  for (const one of what) write(`  · ${one}\n`);
  write(`Log in as ${forge.user} with the password ${forge.password} to look at it. What the agent answers:\n\n`);
  return pull;
}

async function follow(options: TourOptions, pull: ShownPull): Promise<void> {
  const { forge, write, signal, everyMs = EVERY_MS, patienceMs = PATIENCE_MS } = options;
  const news = new TourNews();
  let last = Date.now();
  let isAdvised = false;
  let isExcused = false;
  while (!signal.aborted) {
    const sight = await look(forge, pull.number);
    const lines = sight === undefined ? [] : news.linesFor(sight);
    for (const line of lines) write(`${line}\n`);
    if (lines.length > 0) last = Date.now();
    const isQuiet = Date.now() - last > patienceMs;
    if (!isAdvised && sight !== undefined && isAnswered(sight)) {
      isAdvised = true;
      write(advice(forge, pull));
    } else if (!isAdvised && !isExcused && isQuiet) {
      isExcused = true;
      write(`Nothing more has come for ${Math.round(patienceMs / 1_000)} s. The agent's log tells what it does.\n`);
      write(advice(forge, pull));
    }
    await sleep(isQuiet ? everyMs * SLOWER : everyMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Undefined while the forge can't be asked: it may be halted, or slow. */
async function look(forge: PlaygroundForge, number: number): Promise<TourSight | undefined> {
  const { colleague, agent } = forge;
  try {
    const [pull, main, comments] = await Promise.all([
      colleague.pull(number),
      colleague.head(),
      colleague.comments(number),
    ]);
    const shown = [
      { name: 'main', commit: main },
      ...(pull.state === 'open' ? [{ name: 'the pull request', commit: pull.head }] : []),
    ];
    const commits: TourSight['commits'] = [];
    for (const { name, commit } of shown)
      if (commit !== undefined) commits.push({ name, commit, statuses: await colleague.statuses(commit) });
    return { commits, comments: comments.filter(({ author }) => author === agent) };
  } catch {
    return undefined;
  }
}

/** The plan is there, and the status says that it is whole. */
function isAnswered({ commits, comments }: TourSight): boolean {
  const plans = commits.flatMap(({ statuses }) => statuses.filter(({ context }) => context.endsWith('/plan')));
  return comments.length > 0 && plans.some(({ state }) => state !== 'pending');
}

/** By commands too: a Gitea that was built here has no scripts, and its pages can't merge without. */
function advice({ url, user, password }: PlaygroundForge, { number, page }: ShownPull): string {
  const post = (path: string, body: object): string =>
    `curl -u ${user}:${password} ${url}/api/v1/repos/${new URL(page).pathname.split('/').slice(1, 3).join('/')}${path} --json '${JSON.stringify(body)}'`;
  return [
    '',
    'Now it is your turn:',
    `  · look at the plan on ${page}`,
    `  · push to its branch, ${BRANCH}: the plan follows, in the same comment`,
    '  · where a plan says that something is held, approve it by a comment:',
    `    ${post(`/issues/${number}/comments`, { body: '/espalier approve' })}`,
    '  · merge it, and see the statuses of the new commit on main: pending, then success once all is healthy:',
    `    ${post(`/pulls/${number}/merge`, { Do: 'merge' })}`,
    '  · change something by hand with kubectl: the status espalier/playground/drift tells',
    '',
  ]
    .map((line) => `${line}\n`)
    .join('');
}
