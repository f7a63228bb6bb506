import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { describeMoment, type Life, livesOf, type Moment, momentsOf } from '../cases/support/moments.ts';
import type { Body } from '../cases/support/mortal.ts';
import { differences } from './support/difference.ts';
import { MortalRelease, TURNS, type TurnResult } from './support/mortal-release.ts';

test('H1, H3: an agent that dies at some write of an install, an upgrade, a rollback or an uninstall ends where one that lives does, and no hook that has succeeded runs twice', async (t) => {
  const expected = await live(t, 'abandoned');

  await t.test('at each kind of write that a release is made of', async (t) => {
    await sweep(
      t,
      expected,
      'abandoned',
      livesOf(
        expected.map(({ writes }) => momentsOf(writes).filter(isOfRelease)),
        2,
      ),
    );
  });

  await t.test('as it is run, killed by SIGKILL with its children', async (t) => {
    const life: Life = [
      [{ of: 'PATCH jobs', at: 1, when: 'after' }],
      [{ of: 'PATCH configmaps', at: 1, when: 'after' }],
      [{ of: 'POST secrets', at: 1, when: 'after' }],
      [{ of: 'DELETE jobs', at: 1, when: 'after' }],
    ];
    await sweep(t, expected, 'process', [life]);
  });
});

/** What is told of Syncs and Plugins is swept by R1. */
function isOfRelease({ of = 'any' }: Moment): boolean {
  return !/ (leases|syncs|plugins)(\/|$)/.test(of) || of.endsWith(' plugins/status');
}

/** In each life all turns, with the agent killed in each, and another one started. */
async function sweep(t: TestContext, expected: TurnResult[], body: Body, lives: readonly Life[]): Promise<void> {
  const problems: string[] = [];
  let kills = 0;
  const lived = async (life: Life): Promise<void> => {
    const told = `killed ${life.map((turn) => turn.map(describeMoment).join(', ')).join(' | ')}`;
    try {
      const results = await live(t, body, life);
      kills += results.reduce((sum, one) => sum + one.kills, 0);
      problems.push(...compare(expected, results).map((problem) => `${told}: ${problem}`));
    } catch (error) {
      problems.push(`${told}: ${error instanceof Error ? error.message : error}`);
    }
  };
  const left = [...lives];
  const worker = async (): Promise<void> => {
    for (let life = left.shift(); life !== undefined; life = left.shift()) await lived(life);
  };
  await Promise.all([worker(), worker()]);
  assert.deepEqual(problems, []);
  const wanted = lives.flat(2).length;
  t.diagnostic(`${kills} kills of ${wanted}`);
  // The order of writes is not the same twice, so a moment may not come.
  assert.ok(kills >= wanted * 0.7, `just ${kills} kills of ${wanted}`);
}

async function live(t: TestContext, body: Body, life: Life = []): Promise<TurnResult[]> {
  const release = await MortalRelease.begin(t, body);
  const results: TurnResult[] = [];
  try {
    for (const [index, turn] of TURNS.entries()) {
      try {
        results.push(await release.take(turn, life[index]));
      } catch (error) {
        throw new Error(`${turn}: ${error instanceof Error ? error.message : error}`);
      }
    }
    return results;
  } finally {
    await release.end();
  }
}

/** The hook that fails may be tried once more: killed before its failure was on record, nobody knows of it. */
function triedOnce(hooks: TurnResult['hooks'], expected: TurnResult['hooks'] = {}): TurnResult['hooks'] {
  const name = 'Job after';
  return hooks[name] === 2 && expected[name] === 1 ? { ...hooks, [name]: 1 } : hooks;
}

function compare(expected: readonly TurnResult[], found: readonly TurnResult[]): string[] {
  return found.flatMap(({ state, hooks }, index) => {
    const other = expected[index];
    return [
      ...differences(other?.state, state, ['faultless', 'killed']),
      ...differences(
        other?.hooks,
        TURNS[index] === 'rollback' ? triedOnce(hooks, other?.hooks) : hooks,
        ['faultless', 'killed'],
        'hooks made',
      ),
    ].map((line) => `${TURNS[index]}: ${line}`);
  });
}
