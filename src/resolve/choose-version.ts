import { appIsIn, type Candidate, compareApps, sameApp } from './extension-versions.ts';

export interface Choice {
  /** What an instance asks for: auto, a range, or one version. */
  wanted: string;
  candidates: readonly Candidate[];
  /** Application version that is there now. */
  installed: string | undefined;
  kubernetes: string;
}

export type Chosen =
  | { state: 'chosen'; candidate: Candidate; why: string /** Where the way there leads in the end. */; goal: Candidate }
  | { state: 'none'; why: string };

const LISTED = 4;

/**
 * Which version an instance should be at: the newest that is asked for, fits the cluster's Kubernetes, and can be
 * reached from what is installed; where that takes several steps, the next one.
 */
export function chooseVersion(choice: Choice): Chosen {
  const { wanted, candidates, kubernetes } = choice;
  const asked = wanted === 'auto' ? candidates : asksFor(wanted, candidates);
  if (asked.length === 0) {
    const offers = candidates.length === 0 ? 'there are none' : `there are ${listed(candidates)}`;
    return { state: 'none', why: `no version is "${wanted}": ${offers}` };
  }
  const fitting = asked.filter(({ fits }) => fits);
  if (fitting.length === 0) return { state: 'none', why: noneFits(asked, kubernetes) };
  const sound = fitting.filter(({ deprecated }) => deprecated === undefined);
  const goals = [...sound, ...fitting.filter((one) => !sound.includes(one))];
  for (const goal of goals) {
    const candidate = nextStep(choice, goal);
    if (candidate !== undefined)
      return { state: 'chosen', candidate, why: whyThis(choice, goal, goals, candidate), goal };
  }
  const [goal] = goals;
  return {
    state: 'none',
    why: `${goal?.app} can be reached from ${goal?.from} only, and no version leads there from ${choice.installed}`,
  };
}

function asksFor(wanted: string, candidates: readonly Candidate[]): Candidate[] {
  const exact = candidates.filter(({ app }) => sameApp(wanted, app));
  return exact.length > 0 ? exact : candidates.filter(({ app }) => appIsIn(wanted, app));
}

function noneFits(asked: readonly Candidate[], kubernetes: string): string {
  const ranges = asked.slice(0, LISTED).map((one) => `${one.app} is for ${one.kubernetes ?? 'all'}`);
  const more = asked.length > LISTED ? `, and ${asked.length - LISTED} more` : '';
  return `no version fits Kubernetes ${kubernetes}: ${ranges.join(', ')}${more}`;
}

function whyThis(
  { wanted, kubernetes }: Choice,
  goal: Candidate,
  goals: readonly Candidate[],
  step: Candidate,
): string {
  const asked = wanted === 'auto' ? '' : ` in "${wanted}"`;
  const range = goal.kubernetes === undefined ? '' : ` (${goal.kubernetes})`;
  const one = sameApp(wanted, goal.app)
    ? `${goal.app} is asked for, and fits`
    : `${goal.app} is the newest${asked} that fits`;
  const skipped = goals.find((other) => other.deprecated === undefined && compareApps(other.app, goal.app) > 0);
  const passed = skipped === undefined ? '' : `; ${skipped.app} can't be reached from what is installed`;
  const onTheWay = step === goal ? '' : `; ${step.app} is a step on the way`;
  const old = goal.deprecated === undefined ? '' : `; deprecated: ${goal.deprecated}`;
  return `${one} Kubernetes ${kubernetes}${range}${passed}${onTheWay}${old}`;
}

/** The first step of the shortest way from what is installed, over versions that fit; undefined where no way leads there. */
function nextStep({ candidates, installed }: Choice, goal: Candidate): Candidate | undefined {
  if (installed === undefined || sameApp(installed, goal.app)) return goal;
  const usable = candidates.filter(({ fits }) => fits);
  // From the goal backwards: who is one step away from it, two steps …
  let front: Candidate[] = [goal];
  const seen = new Set(front);
  while (front.length > 0) {
    const direct = front.find(({ from }) => from === undefined || appIsIn(from, installed));
    if (direct !== undefined) return direct;
    const before = usable.filter(
      (one) => !seen.has(one) && front.some(({ from }) => from !== undefined && appIsIn(from, one.app)),
    );
    for (const one of before) seen.add(one);
    front = before;
  }
  return undefined;
}

function listed(candidates: readonly Candidate[]): string {
  const more = candidates.length > LISTED ? ` and ${candidates.length - LISTED} more` : '';
  return `${candidates
    .slice(0, LISTED)
    .map(({ app }) => app)
    .join(', ')}${more}`;
}
