import { EspalierError, isDuration, parseDuration } from '../api/index.ts';
import { calendarOf } from './calendar.ts';
import type { Clock, Timer } from './clock.ts';

/** No timer runs longer than this: the hands of the clock may move meanwhile, or the machine sleep. */
const LONGEST_SLEEP_MS = 60_000;
const LONGEST_JITTER_MS = 30_000;
const SHORTEST_INTERVAL_MS = 1_000;

/** The first run after `from`, for a node-cron expression (in a time zone, UTC by default) or a duration. */
export function nextRun(spec: string, from: number, timezone?: string): number {
  return plannerOf(spec, timezone)(from);
}

export interface ScheduleOptions {
  clock: Clock;
  signal: AbortSignal;
  /** Share of the time to the next run by which that may be late, at most 30 s. Default 0.1. */
  jitter?: number;
  /** In [0, 1). */
  random?: () => number;
  timezone?: string;
}

/**
 * Calls `fn` at each run of the schedule until `signal`. Runs that were missed while the machine slept count as one.
 * Throws at once when the schedule can't be read; `fn` must not throw.
 */
export function schedule(spec: string, fn: () => void, options: ScheduleOptions): void {
  const { clock, signal, jitter = 0.1, random = Math.random, timezone } = options;
  const planned = plannerOf(spec, timezone);
  let timer: Timer;

  const plan = (from: number): void => {
    const due = planned(from);
    const late = Math.min((due - from) * jitter, LONGEST_JITTER_MS) * random();
    sleepUntil(due + late, () => {
      const now = clock.now();
      plan(planned(due) <= now ? now : due);
      fn();
    });
  };
  const sleepUntil = (due: number, then: () => void): void => {
    const armedAt = clock.now();
    const ring = (): void => {
      const now = clock.now();
      if (now < armedAt) plan(now);
      else if (now < due) sleepUntil(due, then);
      else then();
    };
    timer = clock.setTimeout(ring, Math.min(Math.max(0, due - armedAt), LONGEST_SLEEP_MS));
  };

  if (signal.aborted) return;
  plan(clock.now());
  signal.addEventListener('abort', () => timer.clear(), { once: true });
}

export interface Window {
  /** A node-cron expression: when it opens. */
  cron: string;
  /** A duration: for how long. */
  for: string;
  timezone?: string;
}

export type WindowState = { open: true; until: number } | { open: false; opensAt: number };

/** Whether `now` is in a window, and when that changes: it is open until then at least, or opens then. */
export function windowOpen(window: Window, now: number): WindowState {
  const length = parseDuration(window.for);
  if (length === 0) throw unreadable(window.for, 'a time in which anything could be done');
  const opens = calendarPlanner(window.cron, window.timezone)(now - length);
  return opens > now ? { open: false, opensAt: opens } : { open: true, until: opens + length };
}

/** From a time to the next run after it. */
type Planner = (from: number) => number;

function plannerOf(spec: string, timezone: string | undefined): Planner {
  if (!isDuration(spec)) return calendarPlanner(spec, timezone);
  const interval = parseDuration(spec);
  if (interval < SHORTEST_INTERVAL_MS) throw unreadable(spec, 'an interval of 1s or more');
  return (from) => from + interval;
}

function calendarPlanner(cron: string, timezone: string | undefined): Planner {
  const calendar = calendarOf(cron, timezone);
  return (from) => {
    const next = calendar.next(from);
    if (next === undefined) throw unreadable(cron, 'a cron expression that comes true some day');
    return next;
  };
}

function unreadable(text: string, expected: string): EspalierError {
  return new EspalierError('InvalidConfiguration', `"${text}" is not ${expected}`, { retry: false });
}
