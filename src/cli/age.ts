const SECOND = 1;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Up to when a unit is used, and the smaller one that is told beside it. As kubectl writes ages. */
const STEPS: readonly { below: number; unit: [number, string]; rest?: [number, string] }[] = [
  { below: 2 * MINUTE, unit: [SECOND, 's'] },
  { below: 10 * MINUTE, unit: [MINUTE, 'm'], rest: [SECOND, 's'] },
  { below: 3 * HOUR, unit: [MINUTE, 'm'] },
  { below: 8 * HOUR, unit: [HOUR, 'h'], rest: [MINUTE, 'm'] },
  { below: 2 * DAY, unit: [HOUR, 'h'] },
  { below: 8 * DAY, unit: [DAY, 'd'], rest: [HOUR, 'h'] },
  { below: 2 * YEAR, unit: [DAY, 'd'] },
  { below: 8 * YEAR, unit: [YEAR, 'y'], rest: [DAY, 'd'] },
];

/** How long ago an instant was: `45s`, `5m12s`, `3d4h`. Clocks that differ a little make no negative ages. */
export function ageOf(instant: string | undefined, now: number): string {
  const then = Date.parse(instant ?? '');
  if (Number.isNaN(then)) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  const step = STEPS.find(({ below }) => seconds < below);
  if (step === undefined) return `${Math.floor(seconds / YEAR)}y`;
  const [size, unit] = step.unit;
  const left = seconds % size;
  const rest = step.rest === undefined ? 0 : Math.floor(left / step.rest[0]);
  return `${Math.floor(seconds / size)}${unit}${rest === 0 ? '' : `${rest}${step.rest?.[1]}`}`;
}
