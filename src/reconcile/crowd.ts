import type { WorkQueue } from '../runtime/queue.ts';

/** From so many Plugins on that want to be worked on at once, the intents of new ones go on record together, and events wait. */
const CROWD = 16;

/** How many Plugins want to be worked on at this moment, with what a revision is about to bring. */
export class Crowd {
  readonly #queue: Pick<WorkQueue, 'depth' | 'running'>;
  #coming = 0;

  constructor(queue: Pick<WorkQueue, 'depth' | 'running'>) {
    this.#queue = queue;
  }

  get isThere(): boolean {
    return this.#coming + this.#queue.depth + this.#queue.running >= CROWD;
  }

  /** They are awaited until `work` ends, or until it says that one has come. */
  async awaiting<T>(count: number, work: (come: () => void) => Promise<T>): Promise<T> {
    let left = count;
    this.#coming += left;
    try {
      return await work(() => {
        left -= 1;
        this.#coming -= 1;
      });
    } finally {
      this.#coming -= left;
    }
  }
}
