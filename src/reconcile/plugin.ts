import { ANNOTATION, isError, messageOf, type Plugin, refKey } from '../api/index.ts';
import { type Inventory, readInventory } from '../converge/inventory.ts';
import { activityIn } from './activity.ts';
import { chartSecretRefs } from './chart-sources.ts';
import { convergePlugin } from './converge-plugin.ts';
import { rivalOf } from './expansion-rivals.ts';
import { type Facts, factsOf } from './facts.ts';
import { hideSecrets } from './hide-secrets.ts';
import { valuesRefs } from './inputs.ts';
import { judgeAnew } from './judge-anew.ts';
import { logsNow } from './logs-now.ts';
import { credentialRefs, lookAtSource, resolvedNow } from './look-at-source.ts';
import { pluginKeysIn } from './nesting.ts';
import { noteRuns } from './once.ts';
import type { Parts } from './parts.ts';
import type { PluginFindings, PluginOutcome } from './plugin-status.ts';
import { waitsFor } from './plugin-waits.ts';
import { renderKey } from './release-state.ts';
import { type Removal, removePlugin } from './remove-plugin.ts';
import { learnDeclared } from './render-declared.ts';
import { saveStatus } from './save-status.ts';
import { settlePlugin } from './settle.ts';
import { outsideRefs } from './waits.ts';

/** News of the other one wake it; that a commit no longer has the other is no news of it. */
const RIVAL_RETRY_MS = 5_000;

export interface PluginVerdict {
  /** Undefined: what was said before still stands. */
  outcome: PluginOutcome | undefined;
  findings: PluginFindings;
  /** Look again by then, even when nothing happens. */
  againInMs?: number;
  /** Something failed that time may heal: come back with back-off. */
  error?: unknown;
}

/** One look at one Plugin: what it declares, what is there, one step, and what to say about it. */
export async function reconcilePlugin(
  parts: Parts,
  key: string,
  signal: AbortSignal,
): Promise<{ requeueAfterMs?: number } | undefined> {
  const plugin = parts.plugins.get(key);
  if (plugin === undefined) {
    parts.watches.use(key, []);
    parts.outside.use(key, []);
    parts.selections.looked(key);
    parts.declared.forget(key);
    parts.fullLooks.forget(key);
    parts.taken.forget(key);
    parts.intents.forget(key);
    parts.carried.forget(key);
    parts.ownSources.forget(key);
    parts.chartSources.forget(key);
    return undefined;
  }
  const recorded = readInventory(plugin.status?.inventory);
  const record = noteRuns(parts, recorded);
  const found = await lookAt(parts, key, plugin, record, signal).finally(() => parts.selections.looked(key));
  if (found === 'gone') return undefined;
  // That it has run is put on record whatever else comes of the look: it may be gone by the next start.
  const verdict = record === recorded ? found : withRecord(found, record);
  await saveStatus(parts, key, verdict, plugin.metadata.annotations?.[ANNOTATION.reconcileAt]);
  if (verdict.error !== undefined) throw verdict.error;
  return verdict.againInMs === undefined ? undefined : { requeueAfterMs: verdict.againInMs };
}

function withRecord({ findings, ...verdict }: PluginVerdict, record: Inventory): PluginVerdict {
  return { ...verdict, findings: { inventory: [...record.values()], ...findings } };
}

async function lookAt(
  parts: Parts,
  key: string,
  plugin: Plugin,
  record: Inventory,
  signal: AbortSignal,
): Promise<PluginVerdict | 'gone'> {
  parts.watches.use(key, record.values());
  for (const entry of record.values()) if (entry.fields !== undefined) parts.owned.expect(refKey(entry), entry.fields);
  if (plugin.metadata.deletionTimestamp !== undefined)
    return await remove(parts, key, plugin, { why: 'it was deleted', final: true }, signal);
  parts.outside.use(key, [
    ...outsideRefs(plugin),
    ...valuesRefs(plugin),
    ...credentialRefs(plugin),
    ...chartSecretRefs(plugin),
  ]);
  if (plugin.spec.suspend) {
    await learnDeclared(parts, key, plugin, signal);
    return { outcome: { phase: 'Suspended', nested: pluginKeysIn(record.keys()).length > 0 }, findings: {} };
  }

  const answer = factsOf(parts, plugin);
  if (!answer.known) return answer.refused === true ? refused(answer.why) : waiting('SyncMissing', [answer.why]);
  const { facts } = answer;
  const activity = activityIn(plugin, facts);
  if (activity.state === 'inactive')
    return await remove(parts, key, plugin, { why: activity.why, final: false }, signal);
  if (activity.state === 'waiting') return waiting('FactUnknown', [activity.why]);

  const rival = rivalOf(parts, plugin);
  const refusal: PluginVerdict | undefined =
    rival === undefined ? undefined : { ...refused(rival, 'ExpansionRefused'), againInMs: RIVAL_RETRY_MS };
  // One that is for another cluster stands in nobody's way, which is known once it is rendered.
  if (refusal !== undefined && record.size > 0) return refusal;

  let tried = plugin.status?.attempted?.key ?? '';
  let secrets: readonly string[] = [];
  try {
    const isAsked = asksForLook(plugin);
    const nextOwnLook = await lookAtSource(parts, plugin, facts, isAsked, signal);
    const inputs = parts.inputs(plugin, facts);
    if (inputs.state === 'known') secrets = inputs.secrets;
    if (inputs.state === 'waiting') {
      if (refusal !== undefined) return refusal;
      const again = Number.isFinite(nextOwnLook) ? { againInMs: nextOwnLook } : {};
      return { ...waiting('ValuesMissing', [inputs.why]), ...again };
    }
    const retried = isAsked ? withoutVerdict(plugin, inputs.key) : plugin;
    const gaveUp = gaveUpVerdict(retried, inputs.key);
    if (gaveUp !== undefined) return gaveUp;
    const isNew = plugin.status?.revision?.key !== inputs.key || retried !== plugin;
    tried = inputs.key;
    const now = parts.clock.now();
    const full = isAsked || parts.fullLooks.isDue(key, now);
    await judgeAnew(parts, record);
    const settled = isNew || full ? undefined : await settlePlugin(parts, key, plugin, record, inputs.key);
    const verdict =
      settled ??
      (await convergePlugin(parts, {
        key,
        plugin: retried,
        facts,
        inputs,
        record,
        signal,
        waits: () => waitsFor(parts, plugin),
        isNew,
        full,
        rerun: isAsked,
        refusal,
      }));
    if (full) parts.fullLooks.done(key, now);
    const nextLook = parts.fullLooks.dueAt(key, now) - now;
    const againInMs = Math.min(verdict.againInMs ?? nextLook, nextLook, nextOwnLook);
    return hideSecrets(
      {
        ...verdict,
        findings: {
          ...verdict.findings,
          ...resolvedNow(parts, plugin),
          ...imagesNow(parts, plugin, facts, inputs.key),
          ...(await logsNow(parts, { key, plugin, record, verdict, secrets, signal })),
        },
        againInMs,
      },
      secrets,
    );
  } catch (error) {
    if (signal.aborted || isError(error, 'LeaseLost', 'Aborted')) throw error;
    return refusal ?? hideSecrets(failed(plugin, tried, error), secrets);
  }
}

/** What the last rendering that is still in memory knows. Nothing else changes which images it names, but that they are told. */
function imagesNow(parts: Parts, plugin: Plugin, facts: Facts, key: string): Pick<PluginFindings, 'imagesLeft'> {
  if (!facts.reportImages) return { imagesLeft: [] };
  const rendered = parts.rendered.peek(renderKey(plugin, key));
  return rendered === undefined ? {} : { imagesLeft: rendered.imagesLeft };
}

/** Somebody asks for another try of what was taken back or given up. */
function withoutVerdict(plugin: Plugin, key: string): Plugin {
  const { release } = plugin.status ?? {};
  if (release?.rolledBack?.key !== key && release?.gaveUp?.key !== key) return plugin;
  const { rolledBack: _, gaveUp: __, ...rest } = release;
  return { ...plugin, status: { ...plugin.status, release: rest } };
}

function gaveUpVerdict(plugin: Plugin, key: string): PluginVerdict | undefined {
  const gaveUp = plugin.status?.release?.gaveUp;
  if (gaveUp?.key !== key) return undefined;
  const message = `${gaveUp.why}; kept as it is until something changes (upgrade.onFailure: keep)`;
  return {
    outcome: { phase: 'Failed', reason: 'UpgradeFailed', message, userMustAct: true, applied: false },
    findings: {},
  };
}

async function remove(
  parts: Parts,
  key: string,
  plugin: Plugin,
  removal: Removal,
  signal: AbortSignal,
): Promise<PluginVerdict | 'gone'> {
  try {
    return await removePlugin(parts, key, plugin, removal);
  } catch (error) {
    // A conflict is somebody else's write at the same moment: the next look has it.
    if (signal.aborted || isError(error, 'LeaseLost', 'Aborted', 'KubeConflict')) throw error;
    const reason = isError(error) ? error.code : 'Internal';
    const message = `could not remove: ${messageOf(error)}`;
    return { outcome: { phase: 'Failed', reason, message, userMustAct: false, applied: false }, findings: {}, error };
  }
}

/** Somebody wants the truth now, whatever was seen before. */
function asksForLook({ metadata, status }: Plugin): boolean {
  const asked = metadata.annotations?.[ANNOTATION.reconcileAt];
  return asked !== undefined && asked !== status?.lastHandledReconcileAt;
}

function waiting(reason: string, waitingFor: string[]): PluginVerdict {
  return { outcome: { phase: 'Waiting', reason, waitingFor }, findings: {} };
}

/** Others speak against it: what it is nested in, or what came before. What is installed stays as it is. */
function refused(message: string, reason = 'NestingRefused'): PluginVerdict {
  const outcome = { phase: 'Failed', reason, message, userMustAct: true, applied: false } as const;
  return { outcome, findings: {} };
}

function failed(plugin: Plugin, key: string, error: unknown): PluginVerdict {
  const reason = isError(error) ? error.code : 'Internal';
  const userMustAct = isError(error) && !error.retry;
  const findings: PluginFindings = {
    attempted: { key, ...(plugin.metadata.generation === undefined ? {} : { generation: plugin.metadata.generation }) },
  };
  return {
    outcome: { phase: 'Failed', reason, message: messageOf(error), userMustAct, applied: false },
    findings,
    error,
  };
}
