/** Where a commit stands, in words that every forge has a match for. */
export type StatusState = 'pending' | 'success' | 'failure' | 'error';

export interface CommitStatus {
  /** Names who says it and about what: `espalier/prod`, `espalier/prod/drift`. One status holds for each on a commit. */
  context: string;
  state: StatusState;
  /** One line. What a forge has no room for is cut at the end of a word. */
  description: string;
  /** Where more is told. */
  url?: string;
}

export interface PullRequest {
  number: number;
  title: string;
  author: string;
  /** Its page on the forge. */
  url: string;
  state: 'open' | 'closed' | 'merged';
  head: {
    commit: string;
    /** Under which the followed repository itself serves it: `refs/heads/topic`, `refs/pull/3/head`. */
    ref: string;
  };
  /** Name of the branch that it is to be merged into, without `refs/heads/`. */
  base: string;
  /** Its head is in another repository: whoever made it need not have any rights in this one. */
  fromFork: boolean;
}

export interface Comment {
  id: string;
  author: string;
  body: string;
  /** Milliseconds since 1970. */
  writtenAt: number;
  /** The body was changed after it was written. */
  edited: boolean;
}

/** The one comment that the agent keeps on a pull request. */
export interface OwnComment {
  /** Tells it from others of ours on the same pull request: other clusters, other Syncs. Never shown to people. */
  marker: string;
  /** Markdown, within `limits.comment`. */
  body: string;
  /** As the last upsert answered. Without it, or where that comment is gone, one that bears the marker is looked for. */
  id?: string;
}

/** A branch of the repository itself that is to be merged into another. */
export interface Proposal {
  title: string;
  /** Markdown without HTML: not every forge takes it. */
  body: string;
  /** Name of the branch, without `refs/heads/`; it is pushed already. */
  head: string;
  base: string;
}

export interface Proposed {
  number: number;
  /** Its page on the forge. */
  url: string;
  done: 'created' | 'changed' | 'unchanged';
}

export interface ForgeLimits {
  /** Characters of a comment. */
  comment: number;
  /** Whether Markdown may hold `<details>`; elsewhere HTML is shown as text. */
  html: boolean;
}

/**
 * A repository on a forge, as the agent sees it. Every method fails with a code of its family (ForgeAuthFailed,
 * ForgeRefused, ForgeLimited, ForgeUnreachable, ForgeBadAnswer); a limit carries `retryAfterMs`, and until then nothing is sent.
 */
export interface Forge {
  readonly limits: ForgeLimits;
  /** Says it again where it was said already; the forge then shows one. */
  setStatus(commit: string, status: CommitStatus, signal: AbortSignal): Promise<void>;
  /** What was said last in each context. */
  statuses(commit: string, signal: AbortSignal): Promise<CommitStatus[]>;
  openPullRequests(signal: AbortSignal): Promise<PullRequest[]>;
  /** Undefined when there is none of that number. */
  pullRequest(number: number, signal: AbortSignal): Promise<PullRequest | undefined>;
  /** Opens a pull request; where one of the same branches is open, that one says afterwards what is given here. */
  openPullRequest(proposal: Proposal, signal: AbortSignal): Promise<Proposed>;
  /** In the order in which they were written, the agent's own left out. */
  comments(number: number, signal: AbortSignal): Promise<Comment[]>;
  /** Writes the comment, or changes it in place; one that a person deleted is written again. Answers its id. */
  upsertComment(number: number, comment: OwnComment, signal: AbortSignal): Promise<string>;
  /** Whether somebody may push to the repository: what the forge says now, not what a comment claims. */
  mayWrite(user: string, signal: AbortSignal): Promise<boolean>;
  /** Has the forge tell `url` of pushes, pull requests and comments, signed with `secret`. */
  ensureWebhook(hook: { url: string; secret: string }, signal: AbortSignal): Promise<'created' | 'changed'>;
  close(): Promise<void>;
}
