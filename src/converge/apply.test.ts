import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import type { ApplyOptions, KubeClient } from '../cluster/client.ts';
import { type ApplyTask, applyAll, applyOne } from './apply.ts';

const TASK: ApplyTask = {
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: 'ns' } },
  force: false,
  mayTake: () => false,
};
const HOOKS = { beginWrite: () => undefined, cancelWrite: () => undefined, written: () => ({ fields: '' }) };

test('the API server looks for unknown fields only where somebody hears of them', async () => {
  const asked: (string | undefined)[] = [];
  const client = {
    async apply(object: KubeObject, { fieldValidation }: ApplyOptions) {
      asked.push(fieldValidation);
      return object;
    },
  } as unknown as KubeClient;
  await applyAll(client, [TASK], HOOKS, AbortSignal.timeout(1_000));
  await applyOne(client, TASK, { dryRun: true, onWarning: () => undefined });
  await applyOne(client, TASK, { dryRun: true });
  assert.deepEqual(asked, ['Ignore', undefined, undefined]);
});
