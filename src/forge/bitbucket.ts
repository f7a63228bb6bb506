import { shorten } from '../api/one-line.ts';
import type { CommitStatus, ForgeLimits, StatusState } from './forge.ts';
import { MARKER_LENGTH } from './marker.ts';
import { shortName, webLink } from './wording.ts';

/** What Bitbucket Cloud and Data Center have in common. */
export const BITBUCKET_LIMITS: ForgeLimits = { comment: 32_767 - MARKER_LENGTH, html: false };

const KEY_LENGTH = 40;
const NAME_LENGTH = 255;

/** For `error` there is no word that both know; for people it is a failure. */
const SAID: Readonly<Record<StatusState, string>> = {
  pending: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'FAILED',
};

export function stateOf(said: string): StatusState {
  switch (said) {
    case 'INPROGRESS':
      return 'pending';
    case 'SUCCESSFUL':
      return 'success';
    case 'FAILED':
      return 'failure';
    default:
      return 'error';
  }
}

/** A key tells statuses apart and is short; the name beside it is what people read, and what a context is read back from. */
function keyAndName(context: string): { key: string; name: string } {
  return { key: shortName(context, KEY_LENGTH), name: shortName(context, NAME_LENGTH) };
}

/** A status as both take it. `page` is the commit's own: there is none without a link. */
export function buildOf(status: CommitStatus, page: string) {
  return {
    ...keyAndName(status.context),
    state: SAID[status.state],
    description: shorten(status.description),
    url: webLink(status.url) ?? page,
  };
}
