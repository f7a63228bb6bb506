import { messageOf } from '../api/index.ts';
import type { Outcome, Result } from './outcome.ts';

/** One image or chart, and how it is brought to where it belongs. */
export interface Job extends Pick<Result, 'kind' | 'from' | 'to'> {
  run(onPart: () => void): Promise<{ outcome: Outcome; digest?: string }>;
}

export interface Progress {
  done: number;
  total: number;
  /** What is being copied, and how many of its parts are there. */
  detail: string;
}

export interface RunOptions {
  parallel: number;
  signal: AbortSignal;
  onProgress(progress: Progress): void;
  onResult(result: Result): void;
}

/** Runs jobs, so many at a time. Every one is tried: one that fails is an answer. */
export async function runJobs(jobs: readonly Job[], options: RunOptions): Promise<Result[]> {
  const results: Result[] = new Array(jobs.length);
  let done = 0;
  const tell = (detail: string) => options.onProgress({ done, total: jobs.length, detail });
  await inParallel([...jobs.entries()], options.parallel, options.signal, async ([index, job]) => {
    const result = await runJob(job, (parts) => tell(`${job.from}${parts === 0 ? '' : `, ${parts} parts`}`));
    results[index] = result;
    done += 1;
    options.onResult(result);
    tell(job.from);
  });
  return results;
}

/** Does something with each item, so many at a time, and begins no other one once the signal says so: then it throws. */
export async function inParallel<T>(
  items: readonly T[],
  most: number,
  signal: AbortSignal,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const open = items.values();
  const worker = async (): Promise<void> => {
    for (const item of open) {
      if (signal.aborted) return;
      await run(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  signal.throwIfAborted();
}

async function runJob({ run, ...about }: Job, onParts: (count: number) => void): Promise<Result> {
  let parts = 0;
  const onPart = () => {
    parts += 1;
    onParts(parts);
  };
  try {
    return { ...about, ...(await run(onPart)) };
  } catch (error) {
    return { ...about, outcome: { state: 'failed', why: messageOf(error) } };
  }
}
