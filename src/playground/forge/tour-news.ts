import type { ShownComment } from './pulls.ts';
import type { ShownStatus } from './repository.ts';

/** What a forge shows now, as far as the tour tells it. */
export interface TourSight {
  /** By what people call it: `the pull request`, `main`. */
  commits: { name: string; commit: string; statuses: readonly ShownStatus[] }[];
  /** The agent's. */
  comments: readonly ShownComment[];
}

const MOST_LINES = 80;
/** What the agent finds its comment by, and no forge shows. */
const MARKER = /^\[\/\/\]: # \([^\n]*\)\n+/;

/** Tells each status and comment when it is new or says something else than before. */
export class TourNews {
  readonly #told = new Map<string, string>();

  linesFor(sight: TourSight): string[] {
    return [
      ...sight.commits.flatMap(({ name, commit, statuses }) =>
        statuses
          .filter((status) => this.#isNews(`${commit} ${status.context}`, `${status.state} ${status.description}`))
          .map(
            ({ state, context, description }) =>
              `${mark(state)} ${state.padEnd(7)}  ${context} on ${name} (${commit.slice(0, 7)}): ${description}`,
          ),
      ),
      ...sight.comments
        .filter((comment) => this.#isNews(`comment ${comment.id}`, comment.body))
        .flatMap((comment) => [`✎ ${comment.author} writes on the pull request:`, ...framed(comment.body)]),
    ];
  }

  #isNews(key: string, value: string): boolean {
    const isNew = this.#told.get(key) !== value;
    this.#told.set(key, value);
    return isNew;
  }
}

function mark(state: string): string {
  if (state === 'success') return '✔';
  return state === 'pending' ? '…' : '✘';
}

function framed(body: string): string[] {
  const lines = body.replaceAll('\r\n', '\n').replace(MARKER, '').trimEnd().split('\n');
  const shown = lines.slice(0, MOST_LINES).map((line) => `  │ ${line}`.trimEnd());
  return lines.length > MOST_LINES ? [...shown, `  │ … ${lines.length - MOST_LINES} more lines on its page`] : shown;
}
