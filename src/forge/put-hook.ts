import type { Ask, Question } from './ask.ts';

/** Makes a webhook among others, or changes the one of this id. */
export async function putHook(
  ask: Ask,
  hook: Pick<Question, 'what' | 'needs' | 'secrets' | 'body'> & {
    /** Where all of them are. */
    hooks: string;
    id: string | undefined;
  },
  signal: AbortSignal,
): Promise<'created' | 'changed'> {
  const { hooks, id, ...question } = hook;
  if (id === undefined) {
    await ask({ method: 'POST', path: hooks, ...question }, signal);
    return 'created';
  }
  await ask({ method: 'PUT', path: `${hooks}/${encodeURIComponent(id)}`, ...question }, signal);
  return 'changed';
}
