import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION, API_VERSION, type PluginStatus } from '../api/index.ts';
import { progressOf } from './progress.ts';
import { asOurs, type Ours } from './standing.ts';

const ASKED = '2026-11-18T09:00:00.000Z';
const LATER = '2026-11-18T09:00:07.000Z';

function plugin(status: PluginStatus, { generation = 1, asked = ASKED, suspend = false } = {}): Ours {
  const metadata = { name: 'web', generation, annotations: { [ANNOTATION.reconcileAt]: asked } };
  return asOurs({
    apiVersion: API_VERSION,
    kind: 'Plugin',
    metadata,
    spec: { suspend },
    status: { observedGeneration: 1, ...status },
  });
}

const READY = [{ type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: ASKED }] as const;
const ready = { phase: 'Ready', message: '2 objects healthy', conditions: [...READY] } satisfies PluginStatus;

test('what was so before the agent answered does not count', () => {
  assert.equal(progressOf(plugin(ready), ASKED).state, 'unanswered');
  assert.equal(
    progressOf(plugin({ ...ready, lastHandledReconcileAt: '2026-11-17T09:00:00.000Z' }), ASKED).state,
    'unanswered',
  );
});

test('ready counts once the agent answered, and for the declaration as it is now', () => {
  const answered = { ...ready, lastHandledReconcileAt: ASKED };
  assert.deepEqual(progressOf(plugin(answered), ASKED), { state: 'ready', standing: '2 objects healthy' });
  assert.equal(progressOf(plugin(answered, { generation: 2 }), ASKED).state, 'working');
});

test('whoever answers a later request has answered ours', () => {
  const answered = { ...ready, lastHandledReconcileAt: LATER };
  assert.equal(progressOf(plugin(answered, { asked: LATER }), ASKED).state, 'ready');
});

test('failed and held are ends, waiting and progressing are not', () => {
  const stateAt = (phase: PluginStatus['phase']) =>
    progressOf(plugin({ ...(phase && { phase }), message: 'why', lastHandledReconcileAt: ASKED }), ASKED);
  assert.deepEqual(stateAt('Failed'), { state: 'stopped', standing: 'Failed: why' });
  assert.deepEqual(stateAt('Held'), { state: 'stopped', standing: 'Held: why' });
  assert.equal(stateAt('Waiting').state, 'working');
  assert.equal(stateAt('Progressing').state, 'working');
});
