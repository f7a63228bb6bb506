import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findMergeBase, type LookUp } from './mergebase.ts';

/** Commits by number with their parents, which have lower numbers, and times. */
type Graph = { parents: number[]; at: number }[];

function lookIn(graph: Graph, stored: (commit: number) => boolean = () => true): LookUp & { count: number } {
  const lookUp = async (oid: string): ReturnType<LookUp> => {
    lookUp.count += 1;
    const commit = graph[Number(oid)];
    if (commit === undefined || !stored(Number(oid))) return undefined;
    return { parents: commit.parents.map(String), committedAt: new Date(commit.at * 1000).toISOString() };
  };
  lookUp.count = 0;
  return lookUp;
}

function ancestorsOf(graph: Graph, commit: number): Set<number> {
  const all = new Set([commit]);
  for (const each of all) for (const parent of graph[each]?.parents ?? []) all.add(parent);
  return all;
}

/** Common ancestors that are no ancestor of another one. */
function bestOf(graph: Graph, a: number, b: number): number[] {
  const others = ancestorsOf(graph, b);
  const common = [...ancestorsOf(graph, a)].filter((commit) => others.has(commit));
  return common.filter((commit) => !common.some((other) => other !== commit && ancestorsOf(graph, other).has(commit)));
}

const SIZE = 16;
/** With clocks that went wrong now and then. */
const graphs: fc.Arbitrary<Graph> = fc
  .array(fc.record({ parents: fc.array(fc.nat(SIZE), { maxLength: 2 }), skew: fc.constantFrom(0, 0, 0, -9, 9) }), {
    minLength: SIZE,
    maxLength: SIZE,
  })
  .map((rows) =>
    rows.map(({ parents, skew }, i) => ({ parents: i === 0 ? [] : parents.map((n) => n % i), at: 1000 + i + skew })),
  );

test('finds a best common ancestor, the newest of several, whatever the clocks say', async () => {
  await fc.assert(
    fc.asyncProperty(graphs, fc.nat(SIZE - 1), fc.nat(SIZE - 1), async (graph, a, b) => {
      const answer = await findMergeBase(lookIn(graph), String(a), String(b), 1000);
      const bests = bestOf(graph, a, b);
      if (bests.length === 0) return assert.deepEqual(answer, { state: 'none' });
      assert.ok(answer !== 'open' && answer.state === 'found');
      assert.ok(bests.includes(Number(answer.commit)), `${answer.commit} of ${bests}`);
      const newest = Math.max(...bests.map((commit) => graph[commit]?.at ?? 0));
      assert.equal(graph[Number(answer.commit)]?.at, newest);
    }),
    { numRuns: 1000 },
  );
});

test('is not misled by a common ancestor that claims to be newer than one that comes after it', async () => {
  const graph: Graph = [
    { parents: [], at: 100 },
    { parents: [0], at: 50 },
    { parents: [1], at: 60 },
    { parents: [2, 0], at: 110 },
    { parents: [2, 0], at: 111 },
  ];
  assert.deepEqual(await findMergeBase(lookIn(graph), '3', '4', 100), { state: 'found', commit: '2' });
});

test('is open where one of two candidates may come before the other by way of what is not stored', async () => {
  const graph: Graph = [
    { parents: [], at: 100 },
    { parents: [0], at: 1 },
    { parents: [1], at: 50 },
    { parents: [2, 0], at: 110 },
    { parents: [2, 0], at: 111 },
  ];
  assert.equal(
    await findMergeBase(
      lookIn(graph, (commit) => commit !== 1),
      '3',
      '4',
      100,
    ),
    'open',
  );
  assert.deepEqual(await findMergeBase(lookIn(graph), '3', '4', 100), { state: 'found', commit: '2' });
});

test('never says what the whole of history would contradict, whichever part is stored', async () => {
  await fc.assert(
    fc.asyncProperty(
      graphs,
      fc.array(fc.boolean(), { minLength: SIZE, maxLength: SIZE }),
      fc.nat(SIZE - 1),
      fc.nat(SIZE - 1),
      async (graph, kept, a, b) => {
        const stored = (commit: number): boolean => commit === a || commit === b || kept[commit] === true;
        const answer = await findMergeBase(lookIn(graph, stored), String(a), String(b), 1000);
        if (answer === 'open') return;
        const bests = bestOf(graph, a, b);
        if (answer.state === 'none') assert.deepEqual(bests, []);
        else assert.ok(bests.includes(Number(answer.commit)), `${answer.commit} of ${bests}`);
      },
    ),
    { numRuns: 2000 },
  );
});

test('is open where history ends before the two branches meet', async () => {
  const graph: Graph = [
    { parents: [], at: 0 },
    { parents: [0], at: 1 },
    { parents: [0], at: 2 },
  ];
  assert.equal(
    await findMergeBase(
      lookIn(graph, (commit) => commit > 0),
      '1',
      '2',
      100,
    ),
    'open',
  );
});

test('looks at few commits of a long history, and at all of 10,000 in no time where it must', async () => {
  const size = 10_000;
  const graph: Graph = Array.from({ length: size }, (_, i) => ({ parents: i === 0 ? [] : [i - 1], at: i }));
  graph.push({ parents: [size - 5], at: size }, { parents: [size], at: size + 1 });
  const near = lookIn(graph);
  assert.deepEqual(await findMergeBase(near, String(size - 1), String(size + 1), size * 2), {
    state: 'found',
    commit: String(size - 5),
  });
  assert.ok(near.count < 12, `${near.count} looks`);

  graph.push({ parents: [0], at: size + 2 });
  const far = lookIn(graph);
  const started = performance.now();
  const answer = await findMergeBase(far, String(size - 1), String(size + 2), size * 2);
  assert.deepEqual(answer, { state: 'found', commit: '0' });
  assert.equal(far.count, size + 1);
  assert.ok(performance.now() - started < 15_000);
  assert.equal(await findMergeBase(lookIn(graph), String(size - 1), String(size + 2), 100), 'open');
});
