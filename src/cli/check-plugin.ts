import type { KubeObject, Plugin, Sync } from '../api/index.ts';
import { activityIn } from '../reconcile/activity.ts';
import { factsFrom } from '../reconcile/facts.ts';
import type { Rendered } from '../reconcile/rendered.ts';
import { type ApiFinding, apiFindings, type KubernetesTarget } from '../resolve/served-apis.ts';
import type { Code, Finding } from './check-model.ts';

export interface Standpoint {
  sync: Sync;
  /** `gitVersion` of the cluster now, where there is one. */
  from: string | undefined;
  to: KubernetesTarget;
}

/** Whether a Plugin is on the cluster before and after. */
export function presenceFinding(plugin: Plugin, { sync, from, to }: Standpoint): Finding | undefined {
  const then = activityIn(plugin, factsFrom(plugin, sync, to.gitVersion));
  const now = from === undefined ? then : activityIn(plugin, factsFrom(plugin, sync, from));
  if (then.state === 'waiting') return { code: 'NotRendered', message: then.why };
  if (then.state === 'active')
    return now.state === 'inactive'
      ? { code: 'WouldBeInstalled', message: `would be installed: now ${now.why}` }
      : undefined;
  if (now.state !== 'inactive') return { code: 'WouldBeRemoved', message: `would be removed: ${then.why}` };
  return { code: 'NotHere', message: `not installed: ${then.why}` };
}

/** What the release no longer serves of what a Plugin renders to, hooks included. */
export function renderedFindings({ objects, release }: Rendered, minor: number): Finding[] {
  const hooks = release?.hooks.map(({ object }) => object) ?? [];
  return toFindings(apiFindings([...objects, ...hooks], minor), {
    removed: 'ApiRemoved',
    deprecated: 'ApiDeprecated',
  });
}

/** What a Helm release holds that is no longer served; `because` says what that means for it. */
export function recordFindings(
  objects: readonly KubeObject[],
  minor: number,
  code: Extract<Code, 'RecordedApiRemoved' | 'ReleaseApiRemoved'>,
  because: string,
): Finding[] {
  const removed = apiFindings(objects, minor).filter(({ state }) => state === 'removed');
  return toFindings(removed, { removed: code, deprecated: code }).map((finding) => ({
    ...finding,
    message: `${because}: ${finding.message}`,
  }));
}

/** Why a Plugin can't be rendered; charts say themselves which Kubernetes they are for. */
export function renderFault(message: string): Finding {
  const isKubeVersion = /chart requires kubeVersion: .* which is incompatible with Kubernetes/.test(message);
  return { code: isKubeVersion ? 'KubeVersion' : 'NotRendered', message };
}

function toFindings(found: readonly ApiFinding[], codes: Record<ApiFinding['state'], Code>): Finding[] {
  return found.map(({ state, message, ref, removedIn, replacement }) => ({
    code: codes[state],
    message,
    api: { ref, removedIn, replacement },
  }));
}
