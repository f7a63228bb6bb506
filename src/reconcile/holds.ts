import { ANNOTATION, type Plugin } from '../api/index.ts';
import type { Inventory } from '../converge/inventory.ts';
import type { PluginPlan } from '../plan/object-plan.ts';
import type { Facts } from './facts.ts';
import type { PluginOutcome } from './plugin-status.ts';
import { isDeclared } from './records.ts';
import type { Rendered } from './rendered.ts';

export interface HoldInput {
  plugin: Plugin;
  facts: Facts;
  record: Inventory;
  rendered: Rendered;
  plan: PluginPlan;
}

/** Why a change waits for somebody's consent; undefined when it may go ahead. Says how to consent. */
export function holdFor({ plugin, facts, record, rendered, plan }: HoldInput): PluginOutcome | undefined {
  const held = (reason: string, message: string): PluginOutcome => ({ phase: 'Held', reason, message });
  const owned = [...record.values()].filter(isDeclared).length;
  if (rendered.objects.length === 0 && owned > 0 && !plugin.spec.allowEmpty) {
    return held(
      'RendersNothing',
      `it renders no object any more, and ${owned} are installed; nothing is deleted. If that is meant, set spec.allowEmpty: true`,
    );
  }
  if (isApproved(plugin, facts)) return undefined;
  const commit = plugin.spec.source.git?.commit;
  const how =
    commit === undefined
      ? 'approve it by the annotation espalier.dev/approve on the Plugin'
      : `approve it: ${approveCommand(facts, plugin)} --commit ${commit}`;
  if (plan.counts.delete > facts.hold.count) {
    return held('PruneHeld', `it would delete ${plan.counts.delete} objects, more than ${facts.hold.count}; ${how}`);
  }
  if (plugin.spec.upgrade?.approval === 'required' && plugin.status?.revision?.key !== undefined) {
    return held('ApprovalRequired', `its change waits for approval (spec.upgrade.approval); ${how}`);
  }
  return undefined;
}

/** An approval names a commit: that of the Plugin, or the head that its Sync has seen. */
function isApproved(plugin: Plugin, { sync }: Facts): boolean {
  const commits = [plugin.spec.source.git?.commit, sync?.status?.observed?.commit].filter(
    (commit) => commit !== undefined,
  );
  const given = [plugin.metadata.annotations?.[ANNOTATION.approve], sync?.metadata.annotations?.[ANNOTATION.approve]];
  return given.some((approval) => approval !== undefined && commits.some((commit) => commit === approval));
}

function approveCommand({ sync }: Facts, plugin: Plugin): string {
  if (sync === undefined) return `espalier approve plugin/${plugin.metadata.name} -n ${plugin.metadata.namespace}`;
  return `espalier approve ${sync.metadata.name} -n ${sync.metadata.namespace}`;
}
