import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Body } from '../cases/support/mortal.ts';
import { differences } from './support/difference.ts';
import { MortalRelease, TURNS, type TurnResult } from './support/mortal-release.ts';

const TOGETHER = 2;

test('H1, H3: an agent that dies at some write of an install, an upgrade, a rollback or an uninstall ends where one that lives does, and no hook that has succeeded runs twice', (t) =>
  sweep(t, 'abandoned', [2, 5, 8, 11, 14, 17, 19, 21]));

test('H1, H3: so does the agent as it is run, killed by SIGKILL with its children', (t) => sweep(t, 'process', [3, 9]));

/** Lives through all turns again and again, the agent killed once in each turn, at a later write each time. */
async function sweep(t: TestContext, body: Body, moments: number[]): Promise<void> {
  const expected = await live(t, body);
  const problems: string[] = [];
  let kills = 0;
  const left = momentsOr(moments);
  const worker = async (): Promise<void> => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) {
      try {
        const results = await live(t, body, at);
        kills += results.filter(({ wasKilled }) => wasKilled).length;
        problems.push(...compare(expected, results).map((problem) => `killed at write ${at}: ${problem}`));
      } catch (error) {
        problems.push(`killed at write ${at}: ${error instanceof Error ? error.message : error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, worker));
  assert.deepEqual(problems, []);
  t.diagnostic(`${kills} kills`);
  assert.ok(kills >= 2, `just ${kills} kills`);
}

/** `ESPALIER_TEST_MOMENTS=1,2,3` kills at these writes instead: all of them take minutes. */
function momentsOr(usual: number[]): number[] {
  return process.env.ESPALIER_TEST_MOMENTS?.split(',').map(Number) ?? usual;
}

async function live(t: TestContext, body: Body, at?: number): Promise<TurnResult[]> {
  const release = await MortalRelease.begin(t, body);
  const results: TurnResult[] = [];
  try {
    for (const turn of TURNS) {
      try {
        results.push(await release.take(turn, at === undefined ? undefined : { at, when: 'after' }));
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
