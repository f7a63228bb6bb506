/** Whether removals wait for a person, and how that person lets them go on. */
export type Hold = { held: false } | { held: true; reason: string; howToApprove: string };

export interface HoldInput {
  /** What is counted: Plugins of a Sync, or objects of a Plugin. */
  readonly what: 'plugins' | 'nested plugins' | 'objects';
  /** How many the commit would remove, and how many there are before. Renamed and moved ones are not removed. */
  readonly remove: number;
  readonly owned: number;
  readonly limits: { readonly percent: number; readonly count: number };
  /** How the commit stands to the one that was applied before. `unknown` counts as rewritten: nobody can tell. */
  readonly history: 'first' | 'forward' | 'rewritten' | 'unknown';
  readonly approval: ApprovalInput;
}

export interface ApprovalInput {
  /** The full id of the commit that would remove. */
  readonly commit: string;
  /** What the Sync's approval annotation holds: full commit ids, separated by commas or spaces. */
  readonly approved: string | undefined;
  readonly sync: { readonly namespace: string; readonly name: string };
}

/** Law 6: large removals, and removals after history was rewritten, wait for an approval that names the commit. */
export function holdRemovals(input: HoldInput): Hold {
  const reason = input.remove === 0 ? undefined : holdReason(input);
  if (reason === undefined || isApproved(input.approval)) return { held: false };
  return { held: true, reason, howToApprove: howToApprove(input.approval) };
}

/** A Plugin that rendered objects before and renders none now is more often a mistake than a wish. */
export function holdEmpty(input: {
  readonly owned: number;
  readonly rendered: number;
  readonly allowEmpty: boolean;
  readonly approval: ApprovalInput;
}): Hold {
  const isEmpty = input.rendered === 0 && input.owned > 0 && !input.allowEmpty;
  if (!isEmpty || isApproved(input.approval)) return { held: false };
  const count = input.owned === 1 ? '1 object' : `${input.owned} objects`;
  return {
    held: true,
    reason: `it renders no object any more; ${count} would be removed`,
    howToApprove: `If that is meant, set spec.allowEmpty: true, or run: ${howToApprove(input.approval)}`,
  };
}

/**
 * Only the full id counts: commits that share the beginning of an id are made in seconds by whoever wants another
 * commit to pass for the approved one.
 */
export function isApproved({ approved, commit }: Pick<ApprovalInput, 'approved' | 'commit'>): boolean {
  return commit !== '' && (approved ?? '').split(/[\s,]+/).includes(commit);
}

/** Why a removal is too large, or too odd, to happen without consent. */
export function holdReason({ what, remove, owned, limits, history }: Omit<HoldInput, 'approval'>): string | undefined {
  const would = `${remove} of ${owned} ${what} would be removed`;
  if (history === 'rewritten')
    return `${would}, and the branch was rewritten: the applied commit is not among its ancestors`;
  if (history === 'unknown') return `${would}, and it can't be told whether the branch was rewritten`;
  if (remove > limits.count) return `${would}: more than ${limits.count}`;
  if (remove * 100 > limits.percent * owned) return `${would}: more than ${limits.percent} %`;
  return undefined;
}

function howToApprove({ sync, commit }: ApprovalInput): string {
  return `espalier approve ${sync.name} -n ${sync.namespace} --commit ${commit}`;
}
