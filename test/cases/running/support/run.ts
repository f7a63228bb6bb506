import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { API_VERSION, readAs } from '../../../../src/api/index.ts';
import type { ServedRepository } from '../../../../src/playground/gitserver.ts';
import { declareTestSync, getSync } from '../../../support/agent.ts';
import { testClient, testNamespace } from '../../../support/cluster.ts';
import { eventually } from '../../../support/eventually.ts';
import type { SeenRequest } from '../../../support/httpproxy.ts';
import { tempDir } from '../../../support/tempdir.ts';
import type { Moment } from '../../support/moments.ts';
import { type Body, type MortalAgent, startMortal } from '../../support/mortal.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';
import { type ThreeActs, writeThreeActs } from './three-acts.ts';

export interface ActResult {
  kills: number;
  /** Of the agent that lived to see the end. */
  writes: readonly SeenRequest[];
  snapshot: Snapshot;
}

const REST_MS = 800;

/** One platform in a namespace of its own that goes through its three acts, with an agent that may be killed in each. */
export class Run {
  readonly #t: Pick<TestContext, 'after'>;
  readonly #namespace: string;
  readonly #acts: ThreeActs;
  readonly #body: Body;
  readonly #cacheDir: string;
  #agent: MortalAgent | undefined;

  private constructor(t: Pick<TestContext, 'after'>, namespace: string, acts: ThreeActs, body: Body, cacheDir: string) {
    this.#t = t;
    this.#namespace = namespace;
    this.#acts = acts;
    this.#body = body;
    this.#cacheDir = cacheDir;
  }

  static async begin(t: Pick<TestContext, 'after'>, repository: ServedRepository, body: Body): Promise<Run> {
    const namespace = await testNamespace(t, { prefix: 'killed' });
    const acts = await writeThreeActs(repository, namespace, `${namespace}.example.com`);
    const source = { url: repository.url, ref: { commit: acts.commits[0] } };
    const spec = { prune: { hold: { percent: 100 } }, repository: source };
    await declareTestSync(testClient(), { namespace, url: repository.url, spec });
    return new Run(t, namespace, acts, body, await tempDir(t));
  }

  /** Goes to the act's commit. When a moment comes the agent is killed, and another one started, for which the next moment counts. */
  async act(number: number, moments: readonly Moment[] = []): Promise<ActResult> {
    const commit = this.#acts.commits[number] ?? '';
    const [first, ...left] = moments;
    this.#agent?.arm(first);
    await testClient().patch(
      { apiVersion: API_VERSION, kind: 'Sync', namespace: this.#namespace, name: 'sync' },
      { spec: { repository: { ref: { commit } } } },
      { type: 'merge', fieldManager: 'test' },
    );
    let agent = this.#agent ?? (await this.#start(first));
    const reached = this.#reaches(commit);
    let kills = 0;
    while (await Promise.race([agent.dead.then(() => true), reached.then(() => false)])) {
      kills++;
      await this.#freeLease();
      agent = await this.#start(left.shift());
    }
    const writes = agent.writes;
    agent.arm();
    return { kills, writes, snapshot: await takeSnapshot(testClient(), this.#namespace, this.#acts) };
  }

  /** Nothing is written any more. */
  async rests(): Promise<void> {
    this.#agent?.arm();
    await delay(REST_MS);
    const written = (this.#agent?.writes ?? []).map(({ method, path, body }) => `${method} ${path} ${body}`);
    assert.deepEqual(written, []);
  }

  /** A definition that a run left behind would slow down every other run on this control plane. */
  async end(): Promise<void> {
    await this.#agent?.kill();
    const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
    await testClient().delete({ ...definition, name: `widgets.${this.#acts.group}` });
  }

  async #start(moment?: Moment): Promise<MortalAgent> {
    const options = { namespace: this.#namespace, body: this.#body, cacheDir: this.#cacheDir };
    this.#agent = await startMortal(this.#t, moment === undefined ? options : { ...options, moment });
    return this.#agent;
  }

  /** Waiting for the lease of the dead to run out is a story of its own. */
  async #freeLease(): Promise<void> {
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: 'espalier-agent' };
    await testClient().delete({ ...lease, namespace: this.#namespace });
  }

  async #reaches(commit: string): Promise<void> {
    const isThere = async (): Promise<void> => {
      const { status, metadata } = await getSync(testClient(), this.#namespace);
      const isCurrent = status?.observedGeneration === metadata.generation && status?.observed?.commit === commit;
      if (isCurrent && status?.phase === 'Ready' && status.commit === commit) return;
      throw new Error(`the Sync says ${status?.message}, its Plugins: ${await this.#whatPluginsSay()}`);
    };
    await eventually(isThere, { timeoutMs: 60_000 });
  }

  async #whatPluginsSay(): Promise<string> {
    const target = { apiVersion: API_VERSION, kind: 'Plugin', namespace: this.#namespace };
    const plugins = (await testClient().list(target)).items.map((item) => readAs(item, 'Plugin'));
    return plugins.map(({ metadata, status }) => `${metadata.name}: ${status?.message}`).join('; ');
  }
}
