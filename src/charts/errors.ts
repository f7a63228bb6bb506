import { type ErrorCode, EspalierError, messageOf } from '../api/index.ts';

/** Somebody must change something: the chart, its source or the declaration. */
export function refused(message: string, data: Record<string, unknown> = {}): EspalierError {
  return new EspalierError('ChartRefused', message, { retry: false, data });
}

/** What the ways to a server are shared with is called after Git there. */
const OURS: Partial<Record<ErrorCode, ErrorCode>> = {
  GitBadUrl: 'ChartRefused',
  GitUnreachable: 'ChartFetchFailed',
  GitTimedOut: 'ChartFetchFailed',
};

const LONGEST = 600;

/** Whatever was thrown, as one of ours. A server may repeat what it was told: nothing leaves without `hide`. */
export function asChartError(error: unknown, what: string, hide: (text: string) => string): EspalierError {
  if (!(error instanceof EspalierError)) {
    const text = hide(messageOf(error));
    if (error instanceof Error && 'syscall' in error) {
      return new EspalierError('Internal', `The folder for charts can't be used: ${text}`);
    }
    return new EspalierError('ChartFetchFailed', `${what} failed: ${text.slice(0, LONGEST)}`);
  }
  const { retryAfterMs } = error;
  const code = OURS[error.code] ?? error.code;
  const message = hide(error.message);
  if (code === error.code && message === error.message && message.length <= LONGEST) return error;
  const data: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(error.data)) data[key] = typeof value === 'string' ? hide(value) : value;
  const short = message.length > LONGEST ? `${message.slice(0, LONGEST - 1)}…` : message;
  return new EspalierError(code, short, {
    data,
    retry: code === 'ChartRefused' ? false : error.retry,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
