import type { ObjectRef } from '../api/index.ts';
import type { ApiFinding, KubernetesTarget } from '../resolve/served-apis.ts';

/** Programs check this first. Fields and codes are added within a version; a change of meaning makes a new one. */
export const CHECK_VERSION = 'espalier.dev/check/v1';

/** From the best to the worst. */
export const RESULTS = ['ok', 'warning', 'blocks'] as const;
export type Result = (typeof RESULTS)[number];

/** What is found, and how bad it is. */
export const CODES = {
  Stays: 'ok',
  Moves: 'ok',
  NotHere: 'ok',
  WouldBeInstalled: 'ok',
  Waits: 'warning',
  VersionDeprecated: 'warning',
  ApiDeprecated: 'warning',
  RecordedApiRemoved: 'warning',
  NotLookedAt: 'warning',
  NoVersionFits: 'blocks',
  Refused: 'blocks',
  WouldBeRemoved: 'blocks',
  KubeVersion: 'blocks',
  NotRendered: 'blocks',
  ApiRemoved: 'blocks',
  ReleaseApiRemoved: 'blocks',
} as const satisfies Record<string, Result>;
export type Code = keyof typeof CODES;

export interface Finding {
  code: Code;
  message: string;
  /** With `ApiDeprecated`, `ApiRemoved`, `RecordedApiRemoved` and `ReleaseApiRemoved`. */
  api?: Pick<ApiFinding, 'ref' | 'removedIn' | 'replacement'>;
}

/** What was checked: an instance together with its Plugin, any other Plugin, or a Helm release of nobody's. */
export interface Checked {
  kind: 'ExtensionInstance' | 'Plugin' | 'Release';
  namespace: string;
  name: string;
  /** Version now, and with the other Kubernetes, where it has one. */
  before?: string;
  after?: string;
  findings: Finding[];
}

export interface Check {
  /** `gitVersion` of the cluster; undefined where none was asked. */
  from: string | undefined;
  to: KubernetesTarget;
  /** Each after what it depends on. */
  items: Checked[];
  /** What a repository declares and nobody can use. */
  faults: string[];
  notes: string[];
}

export interface CheckDocument {
  version: typeof CHECK_VERSION;
  kubernetes: { from: string | null; to: string };
  summary: Record<Result, number>;
  items: ItemDocument[];
  faults: string[];
  notes: string[];
}

interface ItemDocument {
  kind: Checked['kind'];
  namespace: string;
  name: string;
  result: Result;
  before: string | null;
  after: string | null;
  findings: FindingDocument[];
}

interface FindingDocument {
  code: Code;
  result: Result;
  message: string;
  object?: ObjectRef;
  removedIn?: string;
  replacement?: string;
}

/** As bad as the worst that was found. */
export function resultOf({ findings }: Pick<Checked, 'findings'>): Result {
  const worst = Math.max(0, ...findings.map(({ code }) => RESULTS.indexOf(CODES[code])));
  return RESULTS[worst] ?? 'ok';
}

export function summaryOf({ items }: Check): Record<Result, number> {
  const summary = { ok: 0, warning: 0, blocks: 0 };
  for (const item of items) summary[resultOf(item)] += 1;
  return summary;
}

export function checkDocument(check: Check): CheckDocument {
  return {
    version: CHECK_VERSION,
    kubernetes: { from: check.from ?? null, to: check.to.gitVersion },
    summary: summaryOf(check),
    items: check.items.map((item) => ({
      kind: item.kind,
      namespace: item.namespace,
      name: item.name,
      result: resultOf(item),
      before: item.before ?? null,
      after: item.after ?? null,
      findings: item.findings.map(findingDocument),
    })),
    faults: check.faults,
    notes: check.notes,
  };
}

function findingDocument({ code, message, api }: Finding): FindingDocument {
  return {
    code,
    result: CODES[code],
    message,
    ...(api === undefined ? {} : { object: api.ref }),
    ...(api?.removedIn === undefined ? {} : { removedIn: api.removedIn }),
    ...(api?.replacement === undefined ? {} : { replacement: api.replacement }),
  };
}
