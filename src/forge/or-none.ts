import { type Answer, type Ask, isRefused, type Question } from './ask.ts';

/**
 * The answer, or undefined where there is none of it. Forges say 404 for "there is none" and for "you may not look", so it
 * counts only where the repository itself is seen: lost access must not read as a closed pull request.
 */
export async function orNone(
  ask: Ask,
  question: Question,
  repository: Question,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  try {
    return await ask(question, signal);
  } catch (error) {
    if (!isRefused(error, 404)) throw error;
  }
  await ask(repository, signal);
  return undefined;
}
