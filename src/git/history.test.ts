import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { descends, firstParents } from './history.ts';

/** Commits by number; parents have lower numbers. */
type Graph = number[][];

function parentsIn(graph: Graph, stored: (commit: number) => boolean) {
  return async (oid: string): Promise<string[] | undefined> =>
    stored(Number(oid)) ? (graph[Number(oid)] ?? []).map(String) : undefined;
}

function trueAncestors(graph: Graph, commit: number): Set<number> {
  const all = new Set([commit]);
  for (const each of all) for (const parent of graph[each] ?? []) all.add(parent);
  return all;
}

test('never says what the whole of history would contradict, whichever part is stored', async () => {
  const size = 14;
  const graphs = fc
    .array(fc.array(fc.nat(size), { maxLength: 2 }), { minLength: size, maxLength: size })
    .map((rows) => rows.map((row, i) => (i === 0 ? [] : row.map((n) => n % i))));
  await fc.assert(
    fc.asyncProperty(
      graphs,
      fc.array(fc.boolean(), { minLength: size, maxLength: size }),
      fc.nat(size - 1),
      fc.nat(size - 1),
      async (graph, kept, old, young) => {
        const truth = trueAncestors(graph, young).has(old);
        const answer = await descends(
          parentsIn(graph, (commit) => commit === young || kept[commit] === true),
          String(old),
          String(young),
          1000,
        );
        assert.ok(answer === 'open' || (answer === 'yes') === truth, `${answer}, but ${truth}`);
        const whole = await descends(
          parentsIn(graph, () => true),
          String(old),
          String(young),
          1000,
        );
        assert.equal(whole, truth ? 'yes' : 'no');
      },
    ),
    { numRuns: 500 },
  );
});

test('sees that a rewritten tip does not descend, though older history is not stored', async () => {
  // 0 is not stored; 1 was applied; 2 replaced it.
  const graph = [[], [0], [0]];
  assert.equal(
    await descends(
      parentsIn(graph, (commit) => commit > 0),
      '1',
      '2',
      100,
    ),
    'no',
  );
});

test('leaves it open where the old commit may hide in what is not stored', async () => {
  const graph = [[], [0], [1], [2]];
  assert.equal(
    await descends(
      parentsIn(graph, (commit) => commit > 2),
      '1',
      '3',
      100,
    ),
    'open',
  );
});

test('stops at its limit and leaves it open', async () => {
  const graph = Array.from({ length: 100 }, (_, i) => (i === 0 ? [] : [i - 1]));
  assert.equal(
    await descends(
      parentsIn(graph, () => true),
      '0',
      '99',
      10,
    ),
    'open',
  );
  assert.equal(
    await descends(
      parentsIn(graph, () => true),
      '0',
      '99',
      200,
    ),
    'yes',
  );
});

test('goes back by first parents, as far as told and as far as history is stored', async () => {
  // 4 is a merge of 3 into 2.
  const graph = [[], [0], [1], [0], [2, 3], [4]];
  const lookUp = async (oid: string): Promise<{ oid: string; parents: string[] } | undefined> =>
    oid === '0' ? undefined : { oid, parents: (graph[Number(oid)] ?? []).map(String) };
  const way = async (old: string, limit = 10): Promise<string[]> =>
    (await firstParents(lookUp, '5', old, limit)).map(({ oid }) => oid);
  assert.deepEqual(await way('2'), ['5', '4']);
  assert.deepEqual(await way('5'), []);
  assert.deepEqual(await way('3'), ['5', '4', '2', '1']);
  assert.deepEqual(await way('1', 2), ['5', '4']);
});
