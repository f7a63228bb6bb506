import { type ErrorCode, EspalierError, messageOf } from '../api/index.ts';

/** Somebody must change something: the chart, its source or the declaration. */
export function refused(message: string, data: Record<string, unknown> = {}): EspalierError {
  return new EspalierError('ChartRefused', message, { retry: false, data });
}

/** An archive that can't be what it should be. */
export function broken(why: string): EspalierError {
  return refused(`The archive is damaged or of an unknown kind: ${why}. Pack it again; a chart with \`helm package\`.`);
}

/** What the ways to a server are shared with is called after Git there. */
const OURS: Partial<Record<ErrorCode, ErrorCode>> = {
  GitBadUrl: 'ChartRefused',
  GitUnreachable: 'ChartFetchFailed',
  GitTimedOut: 'ChartFetchFailed',
};

const LONGEST = 600;

/** A file that is downloaded need be no chart, and is not called one. */
const OF_DOWNLOADS: Partial<Record<ErrorCode, ErrorCode>> = {
  ChartAuthFailed: 'DownloadAuthFailed',
  ChartFetchFailed: 'DownloadFailed',
  ChartNotFound: 'DownloadNotFound',
  ChartRefused: 'DownloadRefused',
};

export function asDownloadError(error: EspalierError): EspalierError {
  const code = OF_DOWNLOADS[error.code];
  if (code === undefined) return error;
  const { message, cause, data, retry, retryAfterMs } = error;
  return new EspalierError(code, message, {
    cause,
    data,
    retry,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

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
