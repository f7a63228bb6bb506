import assert from 'node:assert/strict';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ANNOTATION, API_VERSION } from '../../../src/api/index.ts';
import type { GitServer } from '../../../src/playground/gitserver.ts';
import { declareTestSync, getSync } from '../../support/agent.ts';
import { testClient, testNamespace } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { testGitServer } from '../../support/gitserver.ts';
import { tempDir } from '../../support/tempdir.ts';
import { type Body, type Moment, type MortalAgent, startMortal } from '../support/mortal.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';
import { type ThreeActs, writeThreeActs } from './three-acts.ts';

interface ActResult {
  /** Mutating requests of the agent that the act began with. */
  writes: number;
  wasKilled: boolean;
  snapshot: Snapshot;
}

/** One platform through its three acts. */
class Run {
  readonly namespace: string;
  readonly acts: ThreeActs;
  readonly #t: TestContext;
  readonly #body: Body;
  readonly #cacheDir: string;
  #agent: MortalAgent | undefined;

  constructor(t: TestContext, namespace: string, acts: ThreeActs, body: Body, cacheDir: string) {
    this.#cacheDir = cacheDir;
    this.#t = t;
    this.namespace = namespace;
    this.acts = acts;
    this.#body = body;
  }

  static async begin(t: TestContext, server: GitServer, body: Body): Promise<Run> {
    const namespace = await testNamespace(t, { prefix: 'killed' });
    const repository = await server.createRepository(namespace);
    const acts = await writeThreeActs(repository, `${namespace}.example.com`);
    await declareTestSync(testClient(), {
      namespace,
      url: repository.url,
      spec: {
        prune: { hold: { percent: 100 } },
        repository: { url: repository.url, ref: { commit: acts.commits[0] } },
      },
    });
    return new Run(t, namespace, acts, body, await tempDir(t));
  }

  /** Goes to the act's commit, killing the agent once at the moment, if it comes, and starting another. */
  async act(number: 0 | 1 | 2, moment?: Moment): Promise<ActResult> {
    const client = testClient();
    const commit = this.acts.commits[number];
    const first = this.#agent;
    first?.arm(moment);
    await client.patch(
      { apiVersion: API_VERSION, kind: 'Sync', namespace: this.namespace, name: 'sync' },
      { spec: { repository: { ref: { commit } } } },
      { type: 'merge', fieldManager: 'test' },
    );
    const agent = first ?? (await this.#start(moment));
    const settled = { done: false };
    const reached = this.#reaches(commit).finally(() => {
      settled.done = true;
    });
    const wasKilled = await Promise.race([agent.dead.then(() => !settled.done), reached.then(() => false)]);
    if (wasKilled) {
      // Waiting for a dead agent's lease to run out is a story of its own.
      await client.delete({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        namespace: this.namespace,
        name: 'espalier-agent',
      });
      await this.#start();
      await reached;
    }
    const writes = agent.writes.length;
    const snapshot = await takeSnapshot(client, this.namespace, this.acts);
    return { writes, wasKilled, snapshot };
  }

  /** Nothing is written any more. */
  async rests(): Promise<void> {
    const written = () => (this.#agent?.writes ?? []).filter(({ path }) => !path.includes('/events'));
    const before = written().length;
    await delay(1_000);
    assert.deepEqual(
      written()
        .slice(before)
        .map(({ method, path, body }) => `${method} ${path} ${body}`),
      [],
    );
  }

  async end(): Promise<void> {
    await this.#agent?.end();
  }

  async #start(moment?: Moment): Promise<MortalAgent> {
    this.#agent = await startMortal(this.#t, {
      namespace: this.namespace,
      body: this.#body,
      cacheDir: this.#cacheDir,
      ...(moment === undefined ? {} : { moment }),
    });
    return this.#agent;
  }

  #reaches(commit: string): Promise<void> {
    return eventually(
      async () => {
        const { status, metadata } = await getSync(testClient(), this.namespace);
        const isThere =
          status?.phase === 'Ready' &&
          status.commit === commit &&
          status.observed?.commit === commit &&
          status.observedGeneration === metadata.generation;
        if (!isThere) {
          const { items } = await testClient().list({ apiVersion: API_VERSION, kind: 'Plugin', namespace: this.namespace });
          const plugins = items.map((item) => `${item.metadata.name}: ${(item.status as { message?: string } | undefined)?.message}`);
          throw new Error(`${status?.phase} at ${status?.commit}: ${status?.message}; ${plugins.join('; ')}`);
        }
      },
      { timeoutMs: 60_000 },
    );
  }
}

const PARALLEL = Number(process.env.PAR ?? 12);

async function faultless(t: TestContext, server: GitServer): Promise<ActResult[]> {
  const run = await Run.begin(t, server, 'abandoned');
  const results: ActResult[] = [];
  for (const number of [0, 1, 2] as const) {
    results.push(await run.act(number));
    await run.rests();
  }
  await run.end();
  return results;
}

for (const when of (process.env.WHEN ?? 'before,after').split(',') as ('before' | 'after')[]) {
  test(`R1: killed ${when} every mutating request, and started again, it ends where a run without faults ends`, async (t) => {
    const server = await testGitServer(t);
    const expected = await faultless(t, server);
    const longest = Math.max(...expected.map(({ writes }) => writes)) + 3;
    const only = process.env.ONLY?.split(':');
    const left = only === undefined ? Array.from({ length: longest }, (_, index) => index + 1) : only.map(Number);
    let kills = 0;
    const problems: string[] = [];
    const worker = async (): Promise<void> => {
      for (let at = left.shift(); at !== undefined; at = left.shift()) {
        const run = await Run.begin(t, server, 'abandoned');
        for (const number of [0, 1, 2] as const) {
          try {
            const { wasKilled, snapshot } = await run.act(
              number,
              process.env.ACT === undefined || Number(process.env.ACT) === number ? { at, when } : undefined,
            );
            if (wasKilled) kills++;
            assert.deepEqual(snapshot.objects, expected[number]?.snapshot.objects);
            await run.rests();
          } catch (error) {
            if (process.env.ONLY) {
              console.log(run.namespace, number);
              await delay(Number(process.env.HOLD ?? 0));
            }
            problems.push(`act ${number}, ${when} ${at}: ${(error as Error).message.slice(0, 1500)}`);
            break;
          }
        }
        await run.end();
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
    console.log(
      expected.map(({ writes }) => writes),
      kills,
    );
    assert.deepEqual(problems, []);
  });
}
