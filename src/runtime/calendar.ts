import { createTask, parse } from 'node-cron';
import { EspalierError, messageOf } from '../api/index.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Beyond this a date like the fifth Monday of a leap February is called impossible. */
const HORIZON = 50 * 366 * DAY;

/** When a cron expression matches, in one time zone. */
export interface Calendar {
  /** The first match after `from`; undefined when there is none in the next decades. */
  next(from: number): number | undefined;
}

/**
 * Reads an expression as node-cron does: five fields, or six with seconds first, names, `L`, `W`, `#`, `@daily`.
 * node-cron itself looks for the next match from the time of the machine only, so the search is ours and the matching
 * of days its own. An hour that a clock change skips has no match; of one that comes twice, only the first counts,
 * unless the expression names every hour.
 */
export function calendarOf(expression: string, timezone = 'UTC'): Calendar {
  const fields = parseFields(expression);
  const onDay = dayMatcher(fields);
  const wallOf = wallClock(timezone);
  const everyHour = fields.hour.length === 24;

  const stepFrom = (wall: number): number => {
    if (!onDay(wall)) return DAY - (wall % DAY);
    if (!fields.hour.includes(Math.floor(wall / HOUR) % 24)) return HOUR - (wall % HOUR);
    if (!fields.minute.includes(Math.floor(wall / MINUTE) % 60)) return MINUTE - (wall % MINUTE);
    return fields.second.includes(Math.floor(wall / SECOND) % 60) ? 0 : SECOND;
  };
  /** A clock that is set back by half an hour or an hour shows the same times again. */
  const isRepeat = (at: number, wall: number): boolean =>
    !everyHour && [HOUR / 2, HOUR].some((back) => wallOf(at - back) === wall);

  return {
    next(from) {
      let at = (Math.floor(from / SECOND) + 1) * SECOND;
      while (at - from < HORIZON) {
        const wall = wallOf(at);
        const step = stepFrom(wall);
        if (step === 0 && !isRepeat(at, wall)) return at;
        at = advance(at, wall, step || SECOND, wallOf);
      }
      return undefined;
    },
  };
}

/** A step that crosses a clock change would overshoot or fall short: it goes on in steps of at most half an hour. */
function advance(at: number, wall: number, step: number, wallOf: (at: number) => number): number {
  if (wallOf(at + step) - wall === step) return at + step;
  return at + Math.min(step, HOUR / 2 - (at % (HOUR / 2)));
}

type Fields = ReturnType<typeof parse>;

function parseFields(expression: string): Fields {
  try {
    return parse(expression);
  } catch (cause) {
    const message = `"${expression}" is neither a cron expression nor a duration such as 30s: ${messageOf(cause)}`;
    throw new EspalierError('InvalidConfiguration', message, { cause, retry: false });
  }
}

/** Whether a wall-clock day matches, by node-cron's own rules for days of the month and the week. */
function dayMatcher({ dayOfMonth, month, dayOfWeek }: Fields): (wall: number) => boolean {
  const anyTime = `* * * ${dayOfMonth.join(',')} ${month.join(',')} ${dayOfWeek.join(',')}`;
  const task = createTask(anyTime, () => {}, { timezone: 'UTC' });
  void task.destroy();
  return (wall) => task.match(new Date(wall));
}

/** What the clocks of a time zone show, as if it were UTC. */
function wallClock(timezone: string): (at: number) => number {
  if (timezone === 'UTC') return (at) => at;
  const format = formatOf(timezone);
  return (at) => {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of format.formatToParts(at)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const numeric = 'numeric';
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
  } catch (cause) {
    const message = `"${timeZone}" is no time zone; write one such as UTC or Europe/Berlin`;
    throw new EspalierError('InvalidConfiguration', message, { cause, retry: false });
  }
}
