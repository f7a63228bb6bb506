import { plain } from '../plan/plain.ts';
import { withoutTexts } from './hide-secrets.ts';

export const TAIL_LINES = 20;
/** Asked for: what is hidden must be whole to be found, and long lines are cut from their beginning. */
export const ASKED_BYTES = 64 * 1024;
const TAIL_BYTES = 2 * 1024;

/** The token of a service account, which every pod can read. */
const TOKEN = /eyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g;

/** The end of a log, as it may stand in a status: without secrets, and without what could drive a terminal. */
export function tailOf(log: string, secrets: readonly string[]): string[] {
  const whole = log.length < ASKED_BYTES ? log : log.slice(0, log.lastIndexOf('\n') + 1);
  const lines = withoutTexts(whole, secrets).replace(TOKEN, '[redacted]').trimEnd().split(/\r?\n/).map(plain);
  const kept: string[] = [];
  let left = TAIL_BYTES;
  for (const line of lines.slice(-TAIL_LINES).reverse()) {
    const text = endOf(line, left);
    kept.unshift(text);
    left -= Buffer.byteLength(text) + 1;
    if (left <= 0 || text !== line) break;
  }
  return kept.length === 1 && kept[0] === '' ? [] : kept;
}

function endOf(line: string, bytes: number): string {
  const all = Buffer.from(line);
  return all.length <= bytes
    ? line
    : `…${all
        .subarray(all.length - bytes)
        .toString('utf8')
        .replace(/^\ufffd+/, '')}`;
}
