import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  API_VERSION,
  describeRef,
  EspalierError,
  type KubeObject,
  LABEL,
  type Plugin,
  readAs,
  readDelegation,
  refOf,
  reportedOn,
} from '../api/index.ts';
import { memberPath, type TarMember } from '../charts/tar-read.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { Expansion } from '../expansion/format.ts';
import { type Material, materialsOf } from '../expansion/materials.ts';

import { IMAGES_FILE } from '../expansion/verify.ts';
import { NAMESPACE, type Playground, REPOSITORY, startPlayground } from '../playground/playground.ts';
import { showSteps } from '../playground/steps.ts';
import { openScratchFolder } from '../tools/scratch-folder.ts';
import { installedAs, isWhole } from './expansion-installed.ts';
import { startPlaygroundAgent } from './playground-agent.ts';
import { say } from './print.ts';
import { isReady, whyOf } from './standing.ts';

export interface TrialOptions {
  location: string;
  expansion: Expansion;
  members(): AsyncIterable<TarMember>;
  /** For coming up, and again for going. */
  timeoutMs: number;
  signal: AbortSignal;
}

export interface Trial {
  materials: Material[];
  kubeconfig: string;
  /** Uninstalls it, and tells what is left. */
  remove(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Who speaks for the operator, whose program does not run here. */
const STAND_IN = 'espalier-expansion-test';
const LOOK_MS = 250;
/** What failed for so long is not about to come right by itself. */
const FAILED_FOR_MS = 10_000;

/** Installs a package, as the agent does it, on a control plane of its own, and says what became of it. */
export async function tryPackage(options: TrialOptions): Promise<Trial> {
  const seed = openScratchFolder('espalier-trial-');
  const parts = new AsyncDisposableStack();
  parts.defer(() => seed.remove());
  const steps = showSteps(process.stderr);
  try {
    const name = options.expansion.expansion_name ?? 'expansion';
    await unpack(options.members(), join(seed.path, 'expansions', name));
    steps.begin('looking for the programs');
    const playground = await startPlayground({
      seed: seed.path,
      sync: consent(options.expansion),
      agent: startPlaygroundAgent,
      signal: options.signal,
      progress: steps.begin,
    });
    parts.defer(() => playground.stop());
    steps.begin(`installing ${name}`);
    const { plugins, why } = await awaitInstalled(playground, options);
    steps.end();
    if (why !== undefined) say(`espalier: ${why}`);
    const installed = await installedAs(playground.client, plugins, options.expansion);
    return {
      materials: materialsOf(options.expansion, installed),
      kubeconfig: playground.kubeconfig,
      remove: () => removeAll(playground, plugins, options),
      stop: () => parts.disposeAsync(),
    };
  } catch (error) {
    steps.end();
    await parts.disposeAsync();
    throw error;
  }
}

/** Everything but the images, which no cluster reads from a repository. */
async function unpack(members: AsyncIterable<TarMember>, folder: string): Promise<void> {
  for await (const member of members) {
    const path = memberPath(member.path);
    if (member.type !== 'file' || path === IMAGES_FILE) continue;
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await pipeline(member.content(), createWriteStream(file));
  }
}

/** Whoever tries a package consents to what it asks for. */
function consent({ create_cluster_delegate_conditions: delegateConditions }: Expansion) {
  return {
    expansions: { delegateConditions },
    cluster: { name: 'playground', labels: { 'espalier.dev/role': 'management' } },
  };
}

/** Until the whole is ready, or surely won't be; then with the reason. */
async function awaitInstalled(
  { client, broken }: Playground,
  { signal, timeoutMs }: TrialOptions,
): Promise<{ plugins: Plugin[]; why?: string }> {
  const deadline = performance.now() + timeoutMs;
  let ended: string | undefined;
  void broken.then((what) => {
    ended = what;
  });
  for (let failedAt: number | undefined; ; ) {
    if (ended !== undefined) throw new EspalierError('PlaygroundFailed', `${ended} ended by itself: try again`);
    const plugins = await pluginsIn(client, signal);
    const whole = plugins.find(isWhole);
    if (whole !== undefined && isReady(whole)) return { plugins };
    const now = performance.now();
    failedAt = whole?.status?.phase === 'Failed' ? (failedAt ?? now) : undefined;
    if (now > deadline || now - (failedAt ?? now) > FAILED_FOR_MS)
      return { plugins, why: whole === undefined ? await whyNothing(client) : whyOf(whole) };
    await standIn(client, signal);
    await sleep(LOOK_MS, undefined, { signal });
  }
}

async function pluginsIn(client: KubeClient, signal: AbortSignal): Promise<Plugin[]> {
  const { items } = await client.list({ apiVersion: API_VERSION, kind: 'Plugin', namespace: NAMESPACE }, { signal });
  return items.map((item) => readAs(item, 'Plugin'));
}

/** The Sync says what is wrong with a declaration that became no Plugin. */
async function whyNothing(client: KubeClient): Promise<string> {
  const sync = await client.get({ apiVersion: API_VERSION, kind: 'Sync', namespace: NAMESPACE, name: REPOSITORY });
  const found = sync === undefined ? undefined : readAs(sync, 'Sync');
  return found === undefined ? 'nothing came of the package' : whyOf(found);
}

/** Makes every condition true that is left to the operator. */
async function standIn(client: KubeClient, signal: AbortSignal): Promise<void> {
  const records = { apiVersion: 'v1', kind: 'ConfigMap', namespace: NAMESPACE, labelSelector: LABEL.expansion };
  for (const record of (await client.list(records, { signal })).items) {
    const delegation = readDelegation(record);
    const closed = delegation?.conditions.filter((one) => reportedOn(record, one)?.status !== 'True') ?? [];
    if (delegation === undefined || closed.length === 0) continue;
    const body = { data: Object.fromEntries(closed.map((one) => [one, 'True'])) };
    await client.patch(delegation.record, body, { type: 'merge', fieldManager: STAND_IN });
  }
}

/** As an owner does it: the plugin is deleted, and the Sync does not write it again meanwhile. */
async function removeAll(
  { client }: Playground,
  plugins: readonly Plugin[],
  { timeoutMs, signal }: TrialOptions,
): Promise<string[]> {
  const whole = plugins.find(isWhole);
  if (whole === undefined) return [];
  const refs = plugins.flatMap(({ status }) => status?.inventory ?? []);
  const sync = { apiVersion: API_VERSION, kind: 'Sync', namespace: NAMESPACE, name: REPOSITORY };
  await client.patch(sync, { spec: { suspend: true } }, { type: 'merge', fieldManager: STAND_IN });
  await client.delete(refOf(whole as unknown as KubeObject));
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const left = await Promise.all(refs.map(async (ref) => ((await client.get(ref)) === undefined ? undefined : ref)));
    const there = left.filter((ref) => ref !== undefined);
    if (there.length === 0 || performance.now() > deadline) return there.map(describeRef);
    await sleep(LOOK_MS, undefined, { signal });
  }
}
