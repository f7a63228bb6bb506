import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { applyDefaults, validateObject } from '../../src/api/index.ts';
import { testClient } from '../support/cluster.ts';
import { ask } from './ask.ts';
import { BAD, GOOD } from './faults.ts';
import { installKinds } from './install.ts';
import { mutations } from './mutations.ts';
import { SAMPLES } from './samples.ts';

const CONCURRENCY = 16;

before(() => installKinds(testClient()));

describe('the API server accepts', () => {
  for (const object of SAMPLES) {
    test(`the sample ${object.kind} ${object.metadata.name}, and has it read with the defaults that we would fill in`, async () => {
      const verdict = await ask(testClient(), object);
      assert.equal(verdict.message, '');
      assert.deepEqual(verdict.object && applyDefaults(verdict.object).spec, applyDefaults(object).spec);
    });
  }

  for (const { title, object } of GOOD) {
    test(`${title}, and has it read with the defaults that we would fill in`, async () => {
      const verdict = await ask(testClient(), object);
      assert.equal(verdict.message, '');
      assert.deepEqual(verdict.object && applyDefaults(verdict.object).spec, applyDefaults(object).spec);
    });
  }
});

describe('the API server refuses', () => {
  for (const { title, object, server } of BAD) {
    test(`${title}, in words that a person understands`, async () => {
      const verdict = await ask(testClient(), object);
      assert.equal(verdict.accepted, false);
      assert.match(verdict.message, server);
    });
  }
});

test('the API server and our own validation agree on every field with every kind of fault', async () => {
  const client = testClient();
  const cases = mutations(SAMPLES);
  const queue = cases.values();
  const disagreements: string[] = [];
  async function work(): Promise<void> {
    for (const { title, object } of queue) {
      const verdict = await ask(client, object);
      const violations = validateObject(object);
      if (verdict.accepted === (violations.length === 0)) continue;
      disagreements.push(`${title}: server ${verdict.message || 'accepts'}; we ${violations[0]?.message ?? 'accept'}`);
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  assert.deepEqual(disagreements, []);
  assert.equal(cases.length > 1000, true);
});
