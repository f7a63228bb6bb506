/** Asks once and keeps the answer; after a failure it is asked again. */
export function once<T>(ask: (signal: AbortSignal) => Promise<T>): (signal: AbortSignal) => Promise<T> {
  let known: { value: T } | undefined;
  return async (signal) => {
    known ??= { value: await ask(signal) };
    return known.value;
  };
}
