const closed = new AbortController();
let listening = false;

/** Fires when whoever read our output has gone away: `espalier get -w | head`. */
export const readerGone: AbortSignal = closed.signal;

/** Data, one line or more, for stdout. Never fails: a reader that left is no error. */
export function print(text: string): void {
  listen();
  if (!closed.signal.aborted) process.stdout.write(`${text}\n`);
}

/** Progress, notes and advice, for stderr. */
export function say(text: string): void {
  listen();
  process.stderr.write(`${text}\n`);
}

function listen(): void {
  if (listening) return;
  listening = true;
  process.stdout.on('error', (error) => {
    if (!isClosedPipe(error)) throw error;
    closed.abort();
  });
  process.stderr.on('error', (error) => {
    if (!isClosedPipe(error)) throw error;
  });
}

function isClosedPipe(error: Error): boolean {
  return 'code' in error && error.code === 'EPIPE';
}
