/** What is needed of process.stderr. */
export interface StepStream {
  isTTY?: boolean | undefined;
  write(text: string): unknown;
}

export interface Steps {
  /** Ends the step before. */
  begin(what: string): void;
  end(): void;
}

/** Says what is being done and, when it is done, how long it took. */
export function showSteps(stream: StepStream, now: () => number = Date.now): Steps {
  let current: { what: string; since: number } | undefined;
  const end = () => {
    if (current === undefined) return;
    const line = `  ${current.what} (${((now() - current.since) / 1000).toFixed(1)} s)\n`;
    stream.write(stream.isTTY === true ? `\r\u001b[K${line}` : line);
    current = undefined;
  };
  return {
    begin(what) {
      end();
      current = { what, since: now() };
      if (stream.isTTY === true) stream.write(`\r\u001b[K  ${what} …`);
    },
    end,
  };
}
