import type { SeenRequest } from '../../support/httpproxy.ts';

/** At a write of an agent: before it gets to the API server, or when it was answered, before that is heard. */
export interface Moment {
  /** The n-th write from now on, or, with `of`, the n-th of that kind. */
  at: number;
  of?: string;
  when: 'before' | 'after';
}

/** What a write is of, whichever object: `PATCH plugins/status`. */
export function kindOf({ method, path }: SeenRequest): string {
  const [route = ''] = path.split('?');
  const rest = route.replace(/^\/(api|apis\/[^/]+)\/[^/]+\//, '').replace(/^namespaces\/[^/]+\//, '');
  const [plural = '', , subresource] = rest.split('/');
  return `${method} ${plural}${subresource === undefined ? '' : `/${subresource}`}`;
}

export function isMoment(request: SeenRequest, writes: readonly SeenRequest[], { at, of }: Moment): boolean {
  if (of !== undefined && kindOf(request) !== of) return false;
  return (of === undefined ? writes : writes.filter((one) => kindOf(one) === of)).indexOf(request) + 1 === at;
}

/**
 * Where to kill an agent that has made these writes when nobody did: once for each kind of write, when the first of it
 * was answered; and in the middle of what it says in statuses, which carry the intents and the results.
 * `ESPALIER_TEST_SWEEP=full`: at every write, before and after.
 */
export function momentsOf(writes: readonly SeenRequest[]): Moment[] {
  if (isFullSweep()) {
    return (['before', 'after'] as const).flatMap((when) => writes.map((_, index) => ({ at: index + 1, when })));
  }
  const counts = new Map<string, number>();
  for (const write of writes) counts.set(kindOf(write), (counts.get(kindOf(write)) ?? 0) + 1);
  const first = [...counts.keys()].map((of): Moment => ({ at: 1, of, when: 'after' }));
  const middle = [...counts]
    .filter(([of, count]) => of === 'PATCH plugins/status' && count > 2)
    .map(([of, count]): Moment => ({ at: Math.ceil(count / 2) + 1, of, when: 'before' }));
  return [...first, ...middle];
}

/** Moments for each act of a life: when one has come, the agent that follows is killed at the next. */
export type Life = readonly (readonly Moment[])[];

/** Deals the moments of each act out to a number of lives, or in a full sweep to as many as it takes, one of an act in each. */
export function livesOf(moments: readonly (readonly Moment[])[], count: number): Life[] {
  const lives = isFullSweep() ? Math.max(...moments.map(({ length }) => length)) : count;
  return Array.from({ length: lives }, (_, life) =>
    moments.map((ofAct) => ofAct.filter((_, index) => index % lives === life)),
  );
}

function isFullSweep(): boolean {
  return process.env.ESPALIER_TEST_SWEEP === 'full';
}

export function describeMoment({ at, of, when }: Moment): string {
  return `${when} write ${at}${of === undefined ? '' : ` of ${of}`}`;
}
