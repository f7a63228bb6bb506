import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { shorten } from '../api/one-line.ts';
import { contextsOf } from './contexts.ts';
import { driftVerdicts } from './drift.ts';
import { differences } from './outline.ts';
import { paceOf, type Saying } from './pace.ts';
import { whatToSay } from './say.ts';
import { extendTrail, touchedBetween } from './trail.ts';
import { type HeadFacts, headVerdict, type PluginState, type Verdict } from './verdict.ts';

const plugin = (name: string, state: PluginState['state'] = 'ready', why = ''): PluginState => ({
  key: `web/${name}`,
  name,
  state,
  why,
});
const head = (plugins: PluginState[], facts: Partial<HeadFacts> = {}): Verdict =>
  headVerdict({ written: true, faults: [], plugins, ...facts });

describe('what is said of the commit in force', () => {
  test('success comes only when every plugin is ready', () => {
    assert.deepEqual(head([plugin('a'), plugin('b')]), { state: 'success', description: '2 plugins ready' });
    assert.deepEqual(head([plugin('a'), plugin('b', 'waiting')]), {
      state: 'pending',
      description: '1 plugin ready, 1 waiting: b',
    });
  });

  test('nothing is claimed before the commit is written', () => {
    assert.equal(head([plugin('a')], { written: false }).state, 'pending');
  });

  test('a fault names file and line, whatever the others do', () => {
    const verdict = head([plugin('a')], { faults: ['apps/web.yaml:3:5: unknown field "replica"', 'b.yaml:1: x'] });
    assert.deepEqual(verdict, {
      state: 'failure',
      description: 'apps/web.yaml:3:5: unknown field "replica" (and 1 more)',
    });
  });

  test('a failure names what failed and why, and no progress of others', () => {
    const failed = plugin('web', 'failed', 'image not found');
    assert.equal(head([failed, plugin('b', 'waiting')]).description, '1 plugin failed: web (image not found)');
    assert.equal(head([failed, plugin('c', 'failed')]).description, '2 plugins failed: web, c');
  });

  test('what waits for consent is pending; what only another commit lifts has failed', () => {
    assert.equal(head([plugin('a', 'held')]).state, 'pending');
    assert.equal(head([{ ...plugin('a', 'held'), needsCommit: true }]).state, 'failure');
    assert.equal(head([], { held: '12 of 20 plugins would be removed' }).state, 'pending');
  });

  test('removals that are under way are not success yet', () => {
    assert.deepEqual(head([plugin('a')], { busy: 'removing web' }), { state: 'pending', description: 'removing web' });
  });

  test('what differs from the plan of the pull request is told with success', () => {
    const verdict = head([plugin('a')], { differs: { pullRequest: 3, what: ['Deployment web/a has other content'] } });
    assert.deepEqual(verdict, {
      state: 'success',
      description: '1 plugin ready; differs from the plan of #3: Deployment web/a has other content',
    });
  });

  test('a line fits every forge and ends with a word', () => {
    const line = shorten(`web\n\u202e ${'many words '.repeat(30)}`);
    assert.ok(line.length <= 140 && line.startsWith('web many words') && line.endsWith('…'));
    assert.doesNotMatch(line, /[\n\u202e]/);
    assert.equal(shorten('🌳'.repeat(100)).isWellFormed(), true);
  });
});

describe('drift', () => {
  const drifted = [{ plugin: 'web', object: 'Deployment web/a', fields: ['/spec/replicas'], by: 'kubectl' }];
  const success: Verdict = { state: 'success', description: 'the cluster is as declared' };

  test('fails naming the object and who changed it, for as long as it lasts', () => {
    const told = 'changed by hand: web: Deployment web/a /spec/replicas by kubectl';
    assert.deepEqual(driftVerdicts(drifted, [], success, true), [{ state: 'failure', description: told }]);
  });

  test('that was undone at once is told as what it was, then as repaired', () => {
    const [first, second, ...rest] = driftVerdicts([], drifted, success, true);
    assert.equal(first?.state, 'failure');
    assert.deepEqual(second, {
      state: 'success',
      description: 'repaired: web: Deployment web/a /spec/replicas by kubectl',
    });
    assert.deepEqual(rest, []);
  });

  test('that was told before it was undone is only told as repaired', () => {
    const before: Verdict = { state: 'failure', description: 'changed by hand: …' };
    assert.deepEqual(
      driftVerdicts([], drifted, before, true).map(({ state }) => state),
      ['success'],
    );
  });

  test('says nothing of a commit that was not reached, and nothing new at rest', () => {
    assert.deepEqual(driftVerdicts([], [], undefined, false), []);
    assert.deepEqual(driftVerdicts([], [], undefined, true), [success]);
    const repaired: Verdict = { state: 'success', description: 'repaired: …' };
    assert.deepEqual(driftVerdicts([], [], repaired, true), [repaired]);
  });
});

describe('the pace of saying', () => {
  const pending: Verdict = { state: 'pending', description: 'applying' };
  const success: Verdict = { state: 'success', description: 'ready' };
  const failure: Verdict = { state: 'failure', description: 'failed' };
  const pace = (saying: Partial<Saying> & Pick<Saying, 'next'>) =>
    paceOf({ before: undefined, heldMs: 0, saidMs: 0, times: 0, isSure: false, ...saying });

  test('the first word and the final one are said at once', () => {
    assert.deepEqual(pace({ next: pending }), { inMs: 0 });
    assert.deepEqual(pace({ before: pending, next: success, times: 1 }), { inMs: 0 });
  });

  test('what was said is not said again, and nothing final goes back to pending', () => {
    assert.equal(pace({ before: success, next: success }), 'never');
    assert.equal(pace({ before: success, next: pending }), 'never');
    assert.equal(pace({ before: failure, next: pending }), 'never');
  });

  test('a failure must last a moment, unless only a commit can heal it', () => {
    assert.deepEqual(pace({ before: pending, next: failure, heldMs: 500 }), { inMs: 1_500 });
    assert.deepEqual(pace({ before: pending, next: failure, heldMs: 2_000 }), { inMs: 0 });
    assert.deepEqual(pace({ before: pending, next: failure, isSure: true }), { inMs: 0 });
  });

  test('progress is told ever more seldom', () => {
    const next: Verdict = { state: 'pending', description: '3 plugins ready, 1 waiting: web' };
    assert.deepEqual(pace({ before: pending, next, times: 1, saidMs: 10_000 }), { inMs: 20_000 });
    assert.deepEqual(pace({ before: pending, next, times: 3, saidMs: 10_000 }), { inMs: 110_000 });
  });

  test('what comes and goes for ever is told ever more seldom', () => {
    assert.deepEqual(pace({ before: failure, next: success, times: 4 }), { inMs: 0 });
    assert.deepEqual(pace({ before: failure, next: success, times: 20 }), { inMs: 30 * 60_000 });
  });
});

describe('several commits', () => {
  const inputs = (all: Record<string, string>) => new Map(Object.entries(all));

  test('a plugin belongs to the last commit that touched it', () => {
    assert.deepEqual(touchedBetween(inputs({ 'w/a': '1', 'w/b': '1' }), inputs({ 'w/a': '2', 'w/c': '1' })), [
      'w/a',
      'w/b',
      'w/c',
    ]);
    const trail = extendTrail(
      [{ commit: 'c0', plugins: ['w/a', 'w/b'] }],
      [
        { commit: 'c1', plugins: ['w/a'] },
        { commit: 'c2', plugins: ['w/a', 'w/c'] },
      ],
      20,
    );
    assert.deepEqual(trail, [
      { commit: 'c2', plugins: ['w/a', 'w/c'] },
      { commit: 'c1', plugins: [] },
      { commit: 'c0', plugins: ['w/b'] },
    ]);
  });

  test('each commit of one push is answered for what it touched, the last for all', () => {
    const say = (plugins: PluginState[], said: Record<string, Verdict> = {}) =>
      whatToSay({
        contexts: contextsOf('prod', 'web'),
        facts: { written: true, faults: [], plugins },
        trail: [
          { commit: 'c3', plugins: ['web/c'] },
          { commit: 'c2', plugins: ['web/b'] },
          { commit: 'c1', plugins: [] },
        ],
        pluginStatuses: true,
        drifted: [],
        repaired: [],
        said: (commit, context) => said[`${commit} ${context}`],
      }).map(({ commit, context, verdicts }) => `${commit} ${context} ${verdicts.map(({ state }) => state).join()}`);
    assert.deepEqual(say([plugin('a'), plugin('b'), plugin('c', 'waiting')]), [
      'c3 espalier/prod pending',
      'c2 espalier/prod success',
      'c1 espalier/prod pending',
      'c3 espalier/prod/plugin/c pending',
      'c2 espalier/prod/plugin/b success',
    ]);
    const before = { 'c2 espalier/prod': { state: 'success', description: 'x' } as const };
    assert.ok(!say([plugin('a'), plugin('b', 'failed'), plugin('c')], before).includes('c2 espalier/prod failure'));
  });
});

describe('what was done beside what was shown', () => {
  const touch = (object: string, action: string, hash?: string) => ({
    plugin: 'web/a',
    object,
    action,
    ...(hash === undefined ? {} : { hash }),
  });

  test('the same is no difference, nor is another way of writing the same', () => {
    assert.deepEqual(
      differences([touch('A', 'create', '1'), touch('B', 'same', '2')], [touch('A', 'create', '1')]),
      [],
    );
    assert.deepEqual(differences([touch('B', 'same', '2')], [touch('B', 'change', '2')]), []);
  });

  test('other content, other actions, more and less are named', () => {
    const shown = [touch('A', 'create', '1'), touch('B', 'change', '2'), touch('C', 'delete')];
    const done = [touch('A', 'create', '9'), touch('B', 'create', '2'), touch('D', 'delete')];
    assert.deepEqual(differences(shown, done), [
      'A has other content',
      'B: create, not change',
      'D was not in it (delete)',
      'C: no delete',
    ]);
  });
});
