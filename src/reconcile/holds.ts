import { ANNOTATION, type Plugin } from '../api/index.ts';
import type { Inventory } from '../converge/inventory.ts';
import { holdReason, isApproved as isNamed } from '../plan/hold.ts';
import type { PluginPlan } from '../plan/object-plan.ts';
import type { Facts } from './facts.ts';
import type { NestedLosses } from './nested-losses.ts';
import { pluginKeyIn } from './nesting.ts';
import type { PluginOutcome } from './plugin-status.ts';
import { isDeclared } from './records.ts';
import type { Rendered } from './rendered.ts';

export interface HoldInput {
  plugin: Plugin;
  facts: Facts;
  record: Inventory;
  rendered: Rendered;
  /** The commit that the Plugin is made from. */
  commit: string | undefined;
  /** The head that the declaration is taken from: later than `commit` where that did not touch the Plugin. */
  head: string | undefined;
  plan: PluginPlan;
  /** What goes with the Plugins that are nested in it. */
  losses: NestedLosses;
  /** The inputs are not those that are applied. What an earlier look left undecided may still be large. */
  isNew: boolean;
}

/** A change that waits for somebody's consent, and how to give it. */
export interface PluginHold {
  reason: 'RendersNothing' | 'PruneHeld' | 'ApprovalRequired';
  why: string;
  howToApprove: string;
}

/** Undefined when the change may go ahead. */
export function holdFor(input: HoldInput): PluginHold | undefined {
  const { plugin, facts, record, rendered, plan, losses, isNew, commit, head } = input;
  const owned = [...record.values()].filter(isDeclared).length;
  const isMeant = plugin.spec.allowEmpty || rendered.whyEmpty !== undefined;
  if (isNew && rendered.objects.length === 0 && owned > 0 && !isMeant) {
    return {
      reason: 'RendersNothing',
      why: `it renders no object any more, and ${owned} are installed; nothing is deleted`,
      howToApprove: 'if that is meant, set spec.allowEmpty: true',
    };
  }
  if (isApproved(plugin, facts, [commit, head])) return undefined;
  const howToApprove =
    commit === undefined
      ? 'approve it by the annotation espalier.dev/approve on the Plugin'
      : `${approveCommand(facts, plugin)} --commit ${commit}`;
  const { plugins: remove, owned: nested } = losses;
  const limits = facts.hold;
  const large =
    remove === 0
      ? undefined
      : holdReason({ what: 'nested plugins', remove, owned: nested, limits, history: 'forward' });
  if (large !== undefined) return { reason: 'PruneHeld', why: large, howToApprove };
  const deleted = deletionsIn(plan, facts) + losses.objects;
  if (deleted > facts.hold.count) {
    const why = `it would delete ${deleted} objects, more than ${facts.hold.count}`;
    return { reason: 'PruneHeld', why, howToApprove };
  }
  if (isNew && plugin.spec.upgrade?.approval === 'required' && plugin.status?.revision?.key !== undefined) {
    return { reason: 'ApprovalRequired', why: 'its change waits for approval (spec.upgrade.approval)', howToApprove };
  }
  return undefined;
}

/** For a status. */
export function heldOutcome({ reason, why, howToApprove }: PluginHold): PluginOutcome {
  const how = howToApprove.startsWith('espalier ') ? `approve it: ${howToApprove}` : howToApprove;
  return { phase: 'Held', reason, message: `${why}; ${how}` };
}

/** What goes now, and what goes once the rest of the revision is known. Of nested Plugins counts what they installed. */
function deletionsIn(plan: PluginPlan, facts: Facts): number {
  const own = plan.objects.filter(({ key }) => pluginKeyIn(key) === undefined);
  const undecided = own.filter((object) => object.action === 'keep' && object.reason === 'incomplete').length;
  return own.filter(({ action }) => action === 'delete').length + (facts.pruneEnabled ? undecided : 0);
}

/** An approval names a commit: that of the Plugin, or the head that it was taken from. */
function isApproved(plugin: Plugin, { sync }: Facts, commits: readonly (string | undefined)[]): boolean {
  const given = [plugin.metadata.annotations?.[ANNOTATION.approve], sync?.metadata.annotations?.[ANNOTATION.approve]];
  return given.some((approved) => commits.some((commit) => isNamed({ approved, commit: commit ?? '' })));
}

function approveCommand({ sync }: Facts, plugin: Plugin): string {
  if (sync === undefined) return `espalier approve plugin/${plugin.metadata.name} -n ${plugin.metadata.namespace}`;
  return `espalier approve ${sync.metadata.name} -n ${sync.metadata.namespace}`;
}
