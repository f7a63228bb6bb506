import { isError } from '../api/errors.ts';
import { runProgram } from './run.ts';

const ANSWER_MS = 30_000;

/** The version that a program tells, or undefined when it tells none in time. */
export async function versionOf(
  path: string,
  ask: { args: readonly string[]; answer: RegExp },
  signal?: AbortSignal,
  timeoutMs = ANSWER_MS,
): Promise<string | undefined> {
  try {
    const answer = await runProgram(path, {
      args: [...ask.args],
      timeoutMs,
      maxOutputBytes: 65_536,
      signal,
    });
    return answer.code === 0 ? ask.answer.exec(answer.stdout.trim())?.[1] : undefined;
  } catch (error) {
    if (isError(error, 'Aborted')) throw error;
    return undefined;
  }
}
