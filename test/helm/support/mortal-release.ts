import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { JsonObject } from '../../../src/api/index.ts';
import type { ServedRepository } from '../../../src/playground/gitserver.ts';
import { type Release, readRecord } from '../../../src/release/record.ts';
import { toolPath } from '../../../src/tools/tool.ts';
import type { Moment } from '../../cases/support/moments.ts';
import { type Body, type MortalAgent, startMortal } from '../../cases/support/mortal.ts';
import { declareTestSync, getPlugin, getSync } from '../../support/agent.ts';
import { type ChartRepository, chart, startChartServer } from '../../support/charts.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles, testGitServer } from '../../support/gitserver.ts';
import type { SeenRequest } from '../../support/httpproxy.ts';
import { tempDir } from '../../support/tempdir.ts';
import { configMap } from '../charts/fixture.ts';
import { hookJob, hookMap } from '../charts/hooks.ts';
import { type PlainHelm, plainHelm } from './helm.ts';
import { liveState } from './live-state.ts';
import { serve } from './scene.ts';
import { type HookTrace, traceHooks } from './trace.ts';

/** What a life of a release is made of, with a hook that is a Job at every turn. */
export const TURNS = ['install', 'upgrade', 'rollback', 'uninstall'] as const;
export type Turn = (typeof TURNS)[number];

export interface TurnResult {
  kills: number;
  /** Of the agent that lived to see the end. */
  writes: readonly SeenRequest[];
  /** Everything in the namespace, and what Helm says of the release. */
  state: unknown;
  /** How often each hook was made. */
  hooks: Record<string, number>;
}

const JOB = { policy: 'before-hook-creation,hook-succeeded' };
const CHART = chart('app', {
  'values.yaml': 'text: one\nbreaks: false\n',
  'templates/body.yaml': configMap('body', ['text: {{ .Values.text }}']),
  'templates/more.yaml': '{{ if eq .Values.text "one" }}'.concat(configMap('more', ['a: b']), '{{ end }}'),
  'templates/before.yaml': hookJob('before', { on: 'pre-install,pre-upgrade', ...JOB }),
  'templates/kept.yaml': hookMap('kept', { on: 'post-install,post-upgrade' }),
  'templates/after.yaml': hookJob('after', { on: 'post-upgrade', weight: 5, ...JOB }, '.Values.breaks'),
  'templates/back.yaml': hookJob('back', { on: 'post-rollback', ...JOB }),
  'templates/bye.yaml': hookJob('bye', { on: 'pre-delete', ...JOB }),
});
const VALUES: Record<Turn, JsonObject | undefined> = {
  install: {},
  upgrade: { text: 'two' },
  rollback: { text: 'three', breaks: true },
  uninstall: undefined,
};

/** A release that lives through all turns in a namespace of its own, with an agent that may be killed in each. */
export class MortalRelease {
  readonly #t: TestContext;
  readonly #options: { namespace: string; body: Body; cacheDir: string };
  readonly #repository: ServedRepository;
  readonly #charts: ChartRepository;
  readonly #helm: PlainHelm;
  readonly #trace: HookTrace;
  #agent: MortalAgent | undefined;

  private constructor(
    t: TestContext,
    options: { namespace: string; body: Body; cacheDir: string },
    parts: { repository: ServedRepository; charts: ChartRepository; helm: PlainHelm; trace: HookTrace },
  ) {
    this.#t = t;
    this.#options = options;
    this.#repository = parts.repository;
    this.#charts = parts.charts;
    this.#helm = parts.helm;
    this.#trace = parts.trace;
  }

  static async begin(t: TestContext, body: Body): Promise<MortalRelease> {
    // An agent with a cache of its own would have to build Helm first.
    process.env.ESPALIER_TOOL_HELM ??= await toolPath('helm');
    const namespace = await testNamespace(t, { prefix: 'killed' });
    const repository = await (await testGitServer(t)).createRepository('platform');
    await commitFiles(repository, { 'README.md': 'nothing yet' });
    const spec = { poll: '1s', prune: { hold: { percent: 100 } } };
    await declareTestSync(testClient(), { namespace, url: repository.url, spec });
    const trace = await traceHooks(t, testClient(), namespace);
    const parts = { repository, charts: await startChartServer(t), helm: await plainHelm(t, namespace), trace };
    return new MortalRelease(t, { namespace, body, cacheDir: await tempDir(t) }, parts);
  }

  /** Declares what the turn needs, and waits for it. When a moment comes the agent is killed, and another one started, for which the next moment counts. */
  async take(turn: Turn, moments: readonly Moment[] = []): Promise<TurnResult> {
    const [first, ...left] = moments;
    let agent = this.#agent ?? (await this.#start());
    agent.arm(first);
    const values = VALUES[turn];
    const declared = values && serve(this.#charts, CHART, { values, upgrade: { onFailure: 'rollback' } });
    const commit = await commitFiles(this.#repository, { 'plugins/app.yaml': declared?.plugin ?? null });
    const reached = this.#reaches(turn, commit);
    let kills = 0;
    while (await Promise.race([agent.dead.then(() => true), reached.then(() => false)])) {
      kills++;
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: 'espalier-agent' };
      await testClient().delete({ ...lease, namespace: this.#options.namespace });
      agent = await this.#start(left.shift());
    }
    const { writes } = agent;
    agent.arm();
    return { kills, writes, state: await this.#state(), hooks: await this.#hooks() };
  }

  async end(): Promise<void> {
    await this.#agent?.kill();
  }

  async #start(moment?: Moment): Promise<MortalAgent> {
    this.#agent = await startMortal(this.#t, { ...this.#options, ...(moment === undefined ? {} : { moment }) });
    return this.#agent;
  }

  async #reaches(turn: Turn, commit: string): Promise<void> {
    const { namespace } = this.#options;
    await eventually(
      async () => {
        const plugin = await getPlugin(testClient(), namespace, 'app');
        const sync = await getSync(testClient(), namespace);
        assert.equal(sync.status?.observed?.commit, commit);
        if (turn === 'uninstall') return assert.equal(plugin, undefined);
        const { phase, message, observedGeneration } = plugin?.status ?? {};
        assert.equal(observedGeneration, plugin?.metadata.generation);
        if (turn === 'rollback') {
          const records = await this.#records();
          assert.match(records.at(-1)?.description ?? '', /^Rollback/, `the Plugin is ${phase}: ${message}`);
          const deployed = records.flatMap(({ status }, index) => (status === 'deployed' ? [index] : []));
          return assert.deepEqual(deployed, [records.length - 1], message);
        }
        assert.equal(phase, 'Ready', message);
        assert.equal(sync.status?.phase, 'Ready', sync.status?.message);
      },
      { timeoutMs: 60_000 },
    );
  }

  /** What each revision says of itself. Asked again and again: without Helm, which says the same once it is over. */
  async #records(): Promise<Release['info'][]> {
    const secrets = { apiVersion: 'v1', kind: 'Secret', namespace: this.#options.namespace };
    const { items } = await testClient().list({ ...secrets, labelSelector: 'owner=helm,name=app' });
    const records = items.map(readRecord).toSorted((one, other) => one.version - other.version);
    return records.map(({ info }) => info);
  }

  async #state(): Promise<unknown> {
    const { namespace } = this.#options;
    const list = await this.#helm.json<{ name: string; revision: string; status: string }[]>('list');
    const isThere = list.length > 0;
    const history = isThere ? await this.#helm.json<{ revision: number; status: string }[]>('history', 'app') : [];
    return {
      objects: await liveState(testClient(), { namespace, group: 'nobody.example.com' }),
      list: list.map(({ name, revision, status }) => `${name} ${revision} ${status}`),
      history: history.map(({ revision, status }) => `${revision} ${status}`),
      manifest: isThere ? (await this.#helm('get', 'manifest', 'app')).replaceAll(namespace, 'NAMESPACE') : '',
    };
  }

  async #hooks(): Promise<Record<string, number>> {
    const made: Record<string, number> = {};
    for (const what of await this.#trace.take())
      if (what.startsWith('made ')) made[what.slice(5)] = (made[what.slice(5)] ?? 0) + 1;
    return made;
  }
}
