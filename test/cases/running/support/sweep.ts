import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ServedRepository } from '../../../../src/playground/gitserver.ts';
import { describeMoment, type Life } from '../../support/moments.ts';
import type { Body } from '../../support/mortal.ts';
import { type ActResult, Run } from './run.ts';

const ACTS = [0, 1, 2];

export interface SweepOptions {
  repository: ServedRepository;
  /** What each act comes to without a fault. */
  expected: readonly ActResult[];
  body: Body;
  /** Runs side by side. */
  parallel: number;
  /** For each run: where in each act the agent is killed. */
  lives: readonly Life[];
}

/**
 * Runs the three acts again and again, with the agent killed elsewhere in each run. After every act the cluster is as it
 * is after the same act without a fault, and then nothing more is written.
 */
export async function sweep(t: TestContext, options: SweepOptions): Promise<void> {
  const { repository, expected, lives } = options;
  const problems: string[] = [];
  let kills = 0;

  async function live(life: Life): Promise<void> {
    const run = await Run.begin(t, repository, options.body);
    let before: ActResult | undefined;
    for (const act of ACTS) {
      const moments = life[act] ?? [];
      try {
        const result = await run.act(act, moments);
        kills += result.kills;
        assert.deepEqual(result.snapshot.objects, expected[act]?.snapshot.objects);
        assertSameObjects(before, result);
        await run.rests();
        before = result;
      } catch (error) {
        const killed = moments.map(describeMoment).join(', ');
        problems.push(`act ${act + 1}, killed ${killed}: ${error instanceof Error ? error.message : error}`);
        break;
      }
    }
    await run.end();
  }

  const left = [...lives];
  const worker = async (): Promise<void> => {
    for (let life = left.shift(); life !== undefined; life = left.shift()) await live(life);
  };
  await Promise.all(Array.from({ length: options.parallel }, worker));
  assert.deepEqual(problems, []);
  const wanted = lives.flat(2).length;
  t.diagnostic(`${kills} kills of ${wanted}`);
  // The order of writes is not the same twice, so a moment may not come.
  assert.ok(kills >= wanted * 0.8, `just ${kills} kills of ${wanted}`);
}

export async function faultless(
  t: Pick<TestContext, 'after'>,
  repository: ServedRepository,
): Promise<readonly ActResult[]> {
  const run = await Run.begin(t, repository, 'abandoned');
  const results: ActResult[] = [];
  for (const act of ACTS) {
    results.push(await run.act(act));
    await run.rests();
  }
  await run.end();
  return results;
}

/** What stays from one act to the next is never made anew. */
function assertSameObjects(before: ActResult | undefined, now: ActResult): void {
  for (const [name, uid] of Object.entries(before?.snapshot.uids ?? {}))
    assert.equal(now.snapshot.uids[name] ?? uid, uid, `${name} was made anew`);
}
