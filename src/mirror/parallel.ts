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
  let [next, done] = [0, 0];
  const worker = async (): Promise<void> => {
    while (next < jobs.length && !options.signal.aborted) {
      const index = next++;
      const job = jobs[index] as Job; // below the length
      const result = await runJob(job, (parts) => tell(`${job.from}${parts === 0 ? '' : `, ${parts} parts`}`));
      results[index] = result;
      done += 1;
      options.onResult(result);
      tell(job.from);
    }
  };
  const tell = (detail: string) => options.onProgress({ done, total: jobs.length, detail });
  await Promise.all(Array.from({ length: Math.min(options.parallel, jobs.length) }, worker));
  options.signal.throwIfAborted();
  return results;
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
