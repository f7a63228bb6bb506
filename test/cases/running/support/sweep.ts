import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ServedRepository } from '../../../../src/playground/gitserver.ts';
import { testGitServer } from '../../../support/gitserver.ts';
import type { Body, Moment } from '../../support/mortal.ts';
import { type ActResult, Run } from './run.ts';

const ACTS = [0, 1, 2];

export interface SweepOptions {
  body: Body;
  when: Moment['when'];
  /** Runs side by side. */
  parallel: number;
  /** Writes at which the agent is killed, once in each act. Default: 1, 2, 3… until no act has so many. */
  at?: number[];
}

/**
 * Runs the three acts again and again, with the agent killed at one write later in each run. After every act the cluster
 * is as it is after the same act without a fault, and then nothing more is written.
 */
export async function sweep(t: TestContext, options: SweepOptions): Promise<void> {
  const repository = await (await testGitServer(t)).createRepository('platform');
  const expected = await faultless(t, repository);
  const problems: string[] = [];
  let kills = 0;
  let next = 0;
  let isOver = false;

  async function once(at: number): Promise<void> {
    const moment = { at, when: options.when };
    const run = await Run.begin(t, repository, options.body);
    let before: ActResult | undefined;
    let killed = 0;
    for (const act of ACTS) {
      try {
        const result = await run.act(act, moment);
        if (result.wasKilled) killed++;
        assert.deepEqual(result.snapshot.objects, expected[act]?.snapshot.objects);
        assertSameObjects(before, result);
        await run.rests();
        before = result;
      } catch (error) {
        problems.push(
          `act ${act + 1}, killed ${moment.when} write ${at}: ${error instanceof Error ? error.message : error}`,
        );
        killed++;
        break;
      }
    }
    await run.end();
    kills += killed;
    if (killed === 0) isOver = true;
  }

  const worker = async (): Promise<void> => {
    for (let at = nextMoment(); at !== undefined; at = nextMoment()) await once(at);
  };
  function nextMoment(): number | undefined {
    next++;
    return options.at === undefined ? (isOver ? undefined : next) : options.at[next - 1];
  }

  await Promise.all(Array.from({ length: options.parallel }, worker));
  assert.deepEqual(problems, []);
  t.diagnostic(`${kills} kills`);
  assert.ok(kills >= (options.at ?? Array(10)).length * 2, `just ${kills} kills`);
}

async function faultless(t: TestContext, repository: ServedRepository): Promise<ActResult[]> {
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
