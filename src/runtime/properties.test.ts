import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FakeClock } from '../../test/support/clock.ts';
import { DEFAULT_BACKOFF } from './backoff.ts';
import { sleep } from './clock.ts';
import { runController } from './controller.ts';
import { WorkQueue } from './queue.ts';

/** What happens to the world: somebody asks for a key, or time passes. */
type Step = { ask: string; priority: number; after: number } | { pass: number };

/** What a run of a key is like; each run takes the next one of the list. */
interface RunScript {
  ms: number;
  end: 'well' | 'badly';
  /** Asks for this key while it runs. */
  asks?: string | undefined;
}

interface Asked {
  key: string;
  at: number;
  due: number;
}

interface Ran {
  key: string;
  start: number;
  end: number | undefined;
}

interface History {
  asked: Asked[];
  ran: Ran[];
  mostAtOnce: number;
  twiceAtOnce: string[];
}

const LIMIT = 2;
const keys = fc.constantFrom('p/1', 'p/2', 'p/3', 's/1', 's/2');
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ ask: keys, priority: fc.integer({ min: 0, max: 3 }), after: fc.constantFrom(0, 0, 0, 50, 3_000) }),
    fc.record({ pass: fc.constantFrom(0, 1, 20, 400, 5_000) }),
  ),
  { minLength: 1, maxLength: 30 },
);
const scripts: fc.Arbitrary<RunScript[]> = fc.array(
  fc.record({
    ms: fc.constantFrom(0, 1, 30, 700, 20_000),
    end: fc.constantFrom('well', 'well', 'badly'),
    asks: fc.option(keys, { nil: undefined }),
  }),
  { maxLength: 20 },
);

/** Lives through the steps, then long enough for everything to come to rest. */
async function live(todo: Step[], runs: RunScript[]): Promise<History> {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock, random: () => 0 });
  const stop = new AbortController();
  const history: History = { asked: [], ran: [], mostAtOnce: 0, twiceAtOnce: [] };
  const script = [...runs];
  const now = new Set<string>();

  const ask = (key: string, priority = 0, after = 0): void => {
    history.asked.push({ key, at: clock.now(), due: clock.now() + after });
    queue.add(key, { priority, after });
  };
  const reconcile = async (key: string, signal: AbortSignal): Promise<undefined> => {
    if (now.has(key)) history.twiceAtOnce.push(key);
    now.add(key);
    history.mostAtOnce = Math.max(history.mostAtOnce, now.size);
    const ran: Ran = { key, start: clock.now(), end: undefined };
    history.ran.push(ran);
    const { ms, end, asks } = script.shift() ?? { ms: 0, end: 'well' };
    await sleep(ms / 2, { clock, signal });
    if (asks !== undefined) ask(asks);
    await sleep(ms / 2, { clock, signal });
    now.delete(key);
    ran.end = clock.now();
    if (end === 'badly') throw new Error('boom');
    return undefined;
  };

  const ended = runController({
    name: 'Plugin',
    queue,
    clock,
    concurrency: LIMIT,
    maxRunning: LIMIT,
    signal: stop.signal,
    reconcile,
  });
  for (const step of todo) {
    if ('ask' in step) ask(step.ask, step.priority, step.after);
    else await clock.advance(step.pass);
  }
  await clock.advance(2 * 3_600_000);
  assert.deepEqual([queue.depth, queue.delayed, queue.running], [0, 0, 0], 'everything came to rest');
  stop.abort();
  await ended;
  return history;
}

async function always(check: (history: History) => void): Promise<void> {
  const property = fc.asyncProperty(steps, scripts, async (todo, runs) => check(await live(todo, runs)));
  await fc.assert(property, { numRuns: 100 });
}

test('a queue never runs one key twice at once, nor more keys than its limit', async () => {
  await always(({ twiceAtOnce, mostAtOnce }) => {
    assert.deepEqual(twiceAtOnce, []);
    assert.ok(mostAtOnce <= LIMIT);
  });
});

test('nothing is lost: whenever a key was asked for, a run of it starts afterwards', async () => {
  await always(({ asked, ran }) => {
    for (const { key, at } of asked) {
      const index = ran.findIndex((run) => run.key === key && run.start >= at);
      assert.notEqual(index, -1, `${key} asked for at ${at}`);
    }
  });
});

test('a key that was asked for during its run starts again after that run ended', async () => {
  await always(({ asked, ran }) => {
    for (const { key, at } of asked) {
      const during = ran.find((run) => run.key === key && run.start < at && (run.end ?? Infinity) > at);
      if (during === undefined) continue;
      assert.ok(ran.some((run) => run.key === key && run.start >= (during.end ?? Infinity)));
    }
  });
});

test('no key runs more often than it was asked for or failed', async () => {
  const property = fc.asyncProperty(steps, scripts, async (todo, runs) => {
    const { asked, ran } = await live(todo, runs);
    const failures = runs.filter(({ end }) => end === 'badly').length;
    assert.ok(ran.length <= asked.length + failures);
  });
  await fc.assert(property, { numRuns: 100 });
});

test('a key that fails for ever is tried at least every five minutes, and never in a tight loop', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock });
  const starts: number[] = [];
  const reconcile = async (): Promise<undefined> => {
    starts.push(clock.now());
    throw new Error('boom');
  };
  void runController({ name: 'Plugin', queue, clock, concurrency: 1, signal: new AbortController().signal, reconcile });
  queue.add('p/broken');
  await clock.advance(24 * 3_600_000);
  const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
  assert.ok(gaps.every((gap) => gap <= DEFAULT_BACKOFF.capMs));
  assert.ok(gaps.every((gap) => gap >= DEFAULT_BACKOFF.baseMs * (1 - DEFAULT_BACKOFF.jitter)));
  assert.ok(starts.length >= (24 * 3_600_000) / DEFAULT_BACKOFF.capMs);
});

test('a flood of urgent keys of one kind starves neither another kind nor a patient key', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue({ clock, patienceMs: 10_000 });
  const started = new Map<string, number>();
  void runController({
    name: 'Plugin',
    queue,
    clock,
    concurrency: 1,
    signal: new AbortController().signal,
    reconcile: async (key, signal) => {
      if (!started.has(key)) started.set(key, clock.now());
      await sleep(100, { clock, signal });
      if (key.startsWith('Plugin/')) queue.add(key, { priority: 1 });
      return undefined;
    },
  });
  const start = clock.now();
  for (let n = 0; n < 50; n++) queue.add(`Plugin/${n}`, { priority: 1 });
  await clock.advance(10);
  queue.add('Sync/urgent', { priority: 1 });
  queue.add('Sync/patient');
  await clock.advance(20_000);
  const waited = (key: string): number => (started.get(key) ?? Infinity) - start;
  assert.ok(waited('Sync/urgent') <= 300, 'another kind waits for one turn');
  assert.ok(waited('Sync/patient') <= 10_200, 'the patient key goes first at the end of its patience');
});
