const tails = new Map<string, Promise<unknown>>();

/** Runs steps that share a key one after another, in the order in which they were asked for, across everything in this process. */
export async function exclusively<T>(key: string, step: () => Promise<T>): Promise<T> {
  const before = tails.get(key) ?? Promise.resolve();
  const mine = before.then(step, step);
  const settled = mine.catch(() => undefined);
  tails.set(key, settled);
  try {
    return await mine;
  } finally {
    if (tails.get(key) === settled) tails.delete(key);
  }
}
