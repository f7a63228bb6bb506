import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { chart } from '../support/charts.ts';
import { configMap, type Fixture } from './charts/fixture.ts';
import { hookMap } from './charts/hooks.ts';
import { ODDITIES } from './charts/oddities.ts';
import { RANDOM } from './charts/random.ts';
import { compareSides } from './support/compare.ts';
import { plainSide } from './support/sides.ts';

const NAMES = ['one', 'other'] as const;

// What the differential suite rests on: two runs of Helm itself are told to be the same, and what differs is told.
describe('the comparison of two installations', { concurrency: 2 }, () => {
  for (const fixture of [ODDITIES, RANDOM]) {
    test(`finds two releases of ${fixture.name} by Helm itself to be the same`, async (t) => {
      await compareSides([fixture, fixture], [await plainSide(t, fixture), await plainSide(t, fixture)], NAMES);
    });
  }

  test('tells a value, a field that nobody owns any more, the order of hooks and the notes', async (t) => {
    const one = small({ text: 'a', early: 1, late: 2, notes: 'one', extra: true });
    const other = small({ text: 'b', early: 2, late: 1, notes: 'other', extra: false });
    const told = await differencesOf(t, one, other);
    const expected = [
      /^hooks\/0: one "made ConfigMap early", other "made ConfigMap late"$/,
      /^objects\/ConfigMap body\/data\/text: one "a", other "b"$/,
      /^objects\/ConfigMap body\/managers\/helm Apply\/~1data~1more: one "managed", other has none$/,
      /^release\/manifest\/ConfigMap body\/data\/text: one "a", other "b"$/,
      /^release\/notes: one ".*one/,
      /^release\/hooks\/ConfigMap early\/metadata\/annotations\/helm\.sh~1hook-weight: one "1", other "2"$/,
    ];
    for (const pattern of expected)
      assert.ok(
        told.some((line) => pattern.test(line)),
        `${pattern}\n${told.join('\n')}`,
      );
  });
});

interface Small {
  text: string;
  early: number;
  late: number;
  notes: string;
  extra: boolean;
}

function small({ text, early, late, notes, extra }: Small): Fixture {
  const files = {
    'templates/body.yaml': configMap('body', [`text: ${text}`, ...(extra ? ['more: "1"'] : [])]),
    'templates/early.yaml': hookMap('early', { on: 'pre-install', weight: early }),
    'templates/late.yaml': hookMap('late', { on: 'pre-install', weight: late }),
    'templates/NOTES.txt': notes,
  };
  return { name: 'small', source: 'git', steps: () => [{ chart: chart('small', files) }] };
}

async function differencesOf(t: TestContext, one: Fixture, other: Fixture): Promise<string[]> {
  const sides = [await plainSide(t, one), await plainSide(t, other)] as const;
  const failed = await compareSides([one, other], sides, NAMES).catch((error: unknown) => error);
  assert.ok(failed instanceof Error, 'nothing was told');
  return failed.message.split('\n');
}
