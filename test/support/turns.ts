/** How work was spread over turns of the event loop, in time that this thread was really on a processor. */
export interface Turns {
  turns: number;
  /** Milliseconds of work. */
  total: number;
  /** The most of it that was done in one go, as a share of all: 1 when nobody else had a turn. */
  longest: number;
}

/** Counts from here until the answer is called. A busy machine stops the clock, but adds no work. */
export function countTurns(): () => Turns {
  const began = worked();
  let [turns, longest, last] = [0, 0, began];
  const note = (): void => {
    const now = worked();
    longest = Math.max(longest, now - last);
    last = now;
    turns++;
  };
  const ticker = setInterval(note, 1);
  return () => {
    clearInterval(ticker);
    note();
    const total = last - began;
    return { turns: turns - 1, total, longest: longest / total };
  };
}

function worked(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
