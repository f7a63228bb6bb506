import type { Logger } from 'pino';
import { isError, type KubeObject, messageOf, type ObjectRef } from '../api/index.ts';
import type { Charts } from '../charts/charts.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { UrlPolicy } from '../git/url.ts';
import type { Clock } from '../runtime/clock.ts';
import { runController } from '../runtime/controller.ts';
import { WorkQueue } from '../runtime/queue.ts';
import { verdictOf } from '../runtime/verdict.ts';
import { answerSync } from './answers.ts';
import { buildParts, type Queues } from './build-parts.ts';
import { reconcileExtension } from './extension.ts';
import { reconcileInstance } from './instance.ts';
import { reconcileKubegems } from './kubegems/kubegems.ts';
import type { Metrics } from './metrics.ts';
import { reconcilePlugin } from './plugin.ts';
import { lookAtPulls } from './pulls/look.ts';
import { previewPull } from './pulls/preview-pull.ts';
import { keyOf } from './store.ts';
import { reconcileSync } from './sync.ts';
import type { SyncParts } from './sync-parts.ts';

const DEADLINE_MS = 15 * 60_000;
/** A forge that answers nothing must not hold the others up. */
const ANSWER_DEADLINE_MS = 2 * 60_000;
/** One pull request must not starve the others. */
const PULL_DEADLINE_MS = 3 * 60_000;
/** Its Plugin does the work. */
const KUBEGEMS_DEADLINE_MS = 60_000;

type Reconcile = (
  parts: SyncParts,
  key: string,
  signal: AbortSignal,
) => Promise<{ requeueAfterMs?: number } | undefined>;

export interface TermOptions {
  /** Writes only while the lease is held. */
  client: KubeClient;
  clock: Clock;
  random: () => number;
  log: Logger;
  metrics: Metrics;
  /** Folder for what may be fetched again: object stores of repositories. */
  dir: string;
  instance: string;
  /** The agent's own. */
  namespace: string;
  urlPolicy: UrlPolicy;
  /** Under which address people reach what the agent shows. */
  pageUrl: string | undefined;
  charts: Charts;
  /** Only Syncs and Plugins of this namespace are looked after. */
  onlyNamespace: string | undefined;
  isAgent(object: ObjectRef | KubeObject): boolean;
  concurrency: number;
  renderers: number;
  fullLookEveryMs: number;
  graceMs: number;
  signal: AbortSignal;
}

/** What others may ask of a running term. */
export interface Term {
  parts: SyncParts;
  queues: Queues;
  /** Resolves when all caches are filled. */
  ready: Promise<void>;
  isReady: boolean;
  syncKeys(): string[];
  ended: Promise<void>;
}

/** One time of being the leader: fills the caches, then runs the controllers until the signal. */
export function runTerm(options: TermOptions): Term {
  const { clock, log, signal } = options;
  const queues = {
    plugin: new WorkQueue({ clock, random: options.random }),
    sync: new WorkQueue({ clock, random: options.random }),
    answer: new WorkQueue({ clock, random: options.random }),
    pull: new WorkQueue({ clock, random: options.random }),
    instance: new WorkQueue({ clock, random: options.random }),
    extension: new WorkQueue({ clock, random: options.random }),
    kubegems: new WorkQueue({ clock, random: options.random }),
  };
  const { parts, fill, close } = buildParts(options, queues);
  const ready = fill();
  const run = (name: string, queue: WorkQueue, concurrency: number, deadlineMs: number, reconcile: Reconcile) =>
    runController({
      ...{ name, queue, concurrency, deadlineMs, clock, signal, graceMs: options.graceMs },
      reconcile: (key, runSignal) => reconcile(parts, key, runSignal),
      onError: (key, error, failures) => report(log, name, key, error, failures),
      onFinish: (_key, outcome, ms) => options.metrics.reconciled(name, outcome, ms / 1000),
    });
  const ended = ready.then(async () => {
    await Promise.all([
      run('Plugin', queues.plugin, options.concurrency, DEADLINE_MS, reconcilePlugin),
      run('Sync', queues.sync, 4, DEADLINE_MS, reconcileSync),
      run('Answer', queues.answer, 8, ANSWER_DEADLINE_MS, answerSync),
      run('KubeGems', queues.kubegems, 8, KUBEGEMS_DEADLINE_MS, reconcileKubegems),
      run('Pull', queues.pull, 2, PULL_DEADLINE_MS, reconcilePull),
      run('ExtensionInstance', queues.instance, 4, DEADLINE_MS, reconcileInstance),
      run('Extension', queues.extension, 2, DEADLINE_MS, reconcileExtension),
    ]);
    await close();
  });
  const term: Term = {
    parts,
    queues,
    ready,
    isReady: false,
    syncKeys: () => [...parts.syncs.values()].map(keyOf),
    ended,
  };
  ready.then(
    () => {
      term.isReady = true;
    },
    () => undefined,
  );
  return term;
}

/** `namespace/sync` asks which pull requests are open, `namespace/sync#3` for the plan of one. */
async function reconcilePull(
  parts: SyncParts,
  key: string,
  signal: AbortSignal,
): Promise<{ requeueAfterMs?: number } | undefined> {
  const at = key.lastIndexOf('#');
  if (at < 0) return await lookAtPulls(parts, key, signal);
  return await previewPull(parts, key.slice(0, at), Number(key.slice(at + 1)), signal);
}

/** A user's mistake is information, an outage a warning; what nobody expected is an error. */
function report(
  log: Logger,
  kind: string,
  key: string,
  error: unknown,
  failures: number,
): ReturnType<typeof verdictOf> {
  const verdict = verdictOf(error);
  const fields = { kind, key, code: isError(error) ? error.code : 'Internal', failures, message: messageOf(error) };
  if (!isError(error) || error.code === 'Internal')
    log.error({ ...fields, stack: error instanceof Error ? error.stack : undefined }, 'reconcile failed');
  else if (error.retry) log.warn(fields, 'reconcile failed, will be tried again');
  else log.info(fields, 'reconcile needs a change in the declaration');
  return verdict;
}
