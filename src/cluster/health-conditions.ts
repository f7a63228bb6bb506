import { because, failed, type Health, healthy, type ObjectFacts, progressing } from './health-facts.ts';

/** Conditions that mean trouble when they are true. `Failed` and `Stalled` are final until somebody changes something. */
const FAILING = ['Stalled', 'Failed'];
const WORKING = ['Reconciling', 'Progressing'];
/** Conditions that say "done" when they are true; the first one present counts. */
const DONE = ['Ready', 'Available', 'Healthy', 'Established', 'Programmed', 'Accepted', 'Complete', 'Succeeded'];

/** For kinds without rules of their own: kstatus conditions, then the usual ones, and without any: it exists. */
export function healthByConditions({ conditions, hasStatus }: ObjectFacts): Health {
  for (const type of FAILING) {
    const condition = conditions.get(type);
    if (condition?.status === 'True') return failed(because(type, condition));
  }
  const done = DONE.find((type) => conditions.has(type));
  const verdict = done === undefined ? undefined : conditions.get(done);
  for (const type of WORKING) {
    const condition = conditions.get(type);
    // Some controllers leave Progressing true for ever; Ready then decides.
    if (condition?.status === 'True' && (type === 'Reconciling' || verdict?.status !== 'True')) {
      return progressing(because(type, condition));
    }
  }
  if (done !== undefined && verdict !== undefined) {
    return verdict.status === 'True' ? healthy(because(done, verdict)) : progressing(because(done, verdict));
  }
  return healthy(hasStatus ? 'exists, and reports no condition that says more' : 'exists');
}
