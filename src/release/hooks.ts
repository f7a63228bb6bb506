import type { KubeObject } from '../api/index.ts';
import { byInstallOrder } from './install-order.ts';
import type { Hook, HookEvent } from './record.ts';

const HOOK = 'helm.sh/hook';
const WEIGHT = 'helm.sh/hook-weight';
const DELETE_POLICY = 'helm.sh/hook-delete-policy';
const OUTPUT_LOG_POLICY = 'helm.sh/hook-output-log-policy';

const EVENTS: Readonly<Record<string, HookEvent>> = {
  'pre-install': 'pre-install',
  'post-install': 'post-install',
  'pre-delete': 'pre-delete',
  'post-delete': 'post-delete',
  'pre-upgrade': 'pre-upgrade',
  'post-upgrade': 'post-upgrade',
  'pre-rollback': 'pre-rollback',
  'post-rollback': 'post-rollback',
  test: 'test',
  'test-success': 'test',
};

/** What a document of a chart is: an object of the release, one of its hooks, or a hook of a kind that nobody knows, which Helm drops. */
export type DocumentRole = { role: 'object' } | { role: 'hook'; hook: Omit<Hook, 'manifest'> } | { role: 'unknown' };

export function roleOf(object: KubeObject, path: string): DocumentRole {
  const annotations = object.metadata.annotations ?? {};
  const named = annotations[HOOK];
  if (named === undefined) return { role: 'object' };
  const events = words(named).map((word) => (Object.hasOwn(EVENTS, word) ? EVENTS[word] : undefined));
  if (events.some((event) => event === undefined)) return { role: 'unknown' };
  const weight = /^[+-]?\d+$/.test(annotations[WEIGHT] ?? '') ? Number(annotations[WEIGHT]) : 0;
  const deletePolicies = words(annotations[DELETE_POLICY]);
  const outputPolicies = words(annotations[OUTPUT_LOG_POLICY]);
  return {
    role: 'hook',
    hook: {
      name: object.metadata.name,
      kind: object.kind,
      path,
      events: events as HookEvent[],
      last_run: { phase: 'Unknown' },
      ...(weight === 0 ? {} : { weight }),
      ...(deletePolicies.length === 0 ? {} : { delete_policies: deletePolicies }),
      ...(outputPolicies.length === 0 ? {} : { output_log_policies: outputPolicies }),
    },
  };
}

/** The hooks of an event in the order in which they run: by weight, then name; the install order of kinds decides between equals. */
export function hooksFor<H extends Pick<Hook, 'events' | 'weight' | 'name' | 'kind'>>(
  hooks: readonly H[],
  event: HookEvent,
): H[] {
  return hooks
    .filter((hook) => hook.events.includes(event))
    .sort((a, b) => byInstallOrder(a.kind, b.kind))
    .sort((a, b) => (a.weight ?? 0) - (b.weight ?? 0) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

export function deletesHook(hook: Pick<Hook, 'kind' | 'delete_policies'>, policy: string): boolean {
  // Its objects would go with it.
  if (hook.kind === 'CustomResourceDefinition') return false;
  const policies = hook.delete_policies ?? [];
  return (policies.length === 0 ? ['before-hook-creation'] : policies).includes(policy);
}

function words(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(',').map((word) => word.trim().toLowerCase());
}
