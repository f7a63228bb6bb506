import { EspalierError } from './errors.ts';
import { DURATION } from './patterns.ts';

const WHOLE = new RegExp(`^${DURATION}$`);
const PART = /([0-9.]+)(ms|s|m|h)/g;
const MILLISECONDS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export function isDuration(text: string): boolean {
  return text.length <= 32 && WHOLE.test(text);
}

/** `1h30m` → milliseconds. What is longer than nothing never rounds to nothing. */
export function parseDuration(text: string): number {
  if (!isDuration(text)) {
    const message = `${JSON.stringify(text.slice(0, 40))} is not a duration: write one such as 30s, 5m or 1h30m`;
    throw new EspalierError('InvalidDeclaration', message, { retry: false });
  }
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * (MILLISECONDS[unit ?? ''] ?? 0);
  return total > 0 ? Math.max(1, Math.round(total)) : 0;
}

/** Milliseconds → the shortest text that `parseDuration` reads back as the same: `1h30m`, `250ms`. */
export function formatDuration(milliseconds: number): string {
  let rest = Math.max(0, Math.round(milliseconds));
  if (rest === 0) return '0s';
  let text = '';
  for (const unit of ['h', 'm', 's', 'ms']) {
    const size = MILLISECONDS[unit] ?? 1;
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) text += `${amount}${unit}`;
  }
  return text;
}
