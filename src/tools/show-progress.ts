import { barOf, describeProgress, elapsedText, isLast, type Progress, type ReportProgress } from './progress.ts';

/** What is needed of process.stderr. */
export interface ProgressStream {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  write(text: string): unknown;
}

interface Step {
  latest: Progress;
  started: number;
  drawn: number;
  ticker: NodeJS.Timeout;
}

const LINE_EVERY_MS = 5000;
const BAR_EVERY_MS = 200;
/** Steps quicker than this end without a word. */
const QUIET_MS = 1000;
const ERASE = '\r\u001b[K';

/** On a terminal one line that is drawn over, with a bar and the time; elsewhere a line every few seconds. */
export function showProgress(stream: ProgressStream, now: () => number = Date.now): ReportProgress {
  const terminal = stream.isTTY === true;
  const every = terminal ? BAR_EVERY_MS : LINE_EVERY_MS;
  const steps = new Map<string, Step>();

  function begin(progress: Progress): Step {
    // a compiler may be silent for long: the time must go on all the same
    const ticker = setInterval(() => draw(step), Math.min(every, QUIET_MS));
    ticker.unref();
    const step: Step = { latest: progress, started: now(), drawn: Number.NEGATIVE_INFINITY, ticker };
    steps.set(progress.subject, step);
    return step;
  }

  function draw(step: Step): void {
    const elapsed = now() - step.started;
    if (elapsed < QUIET_MS || now() - step.drawn < every) return;
    step.drawn = now();
    stream.write(
      terminal ? `${ERASE}${fitted(barLine(step.latest, elapsed), stream.columns)}` : line(step.latest, elapsed),
    );
  }

  function end(step: Step): void {
    clearInterval(step.ticker);
    steps.delete(step.latest.subject);
    const elapsed = now() - step.started;
    if (elapsed < QUIET_MS) return;
    const last = step.latest.step === 'failed' ? '' : line(step.latest, elapsed);
    stream.write(terminal ? `${ERASE}${last}` : last);
  }

  return (progress) => {
    if (progress.step === 'warning') {
      stream.write(`${terminal ? ERASE : ''}${describeProgress(progress)}\n`);
      return;
    }
    const step = steps.get(progress.subject) ?? begin(progress);
    step.latest = progress;
    if (isLast(progress)) end(step);
    else draw(step);
  };
}

function line(progress: Progress, elapsed: number): string {
  return `${describeProgress(progress)}, ${elapsedText(elapsed)}\n`;
}

function barLine(progress: Progress, elapsed: number): string {
  return [elapsedText(elapsed), barOf(progress), describeProgress(progress)].filter((part) => part !== '').join(' ');
}

/** A line that wraps can't be drawn over. Some terminals tell a width of 0. */
function fitted(text: string, columns: number | undefined): string {
  return text.slice(0, (columns || 80) - 1);
}
