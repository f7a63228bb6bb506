import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, type KubeObject, type PluginStatus } from '../api/index.ts';
import { asOurs, whyOf } from './standing.ts';

function why(
  status: PluginStatus | undefined,
  rest: { suspend?: boolean; metadata?: Partial<KubeObject['metadata']> } = {},
) {
  const metadata = { name: 'web', generation: 2, ...rest.metadata };
  return whyOf(asOurs({ apiVersion: API_VERSION, kind: 'Plugin', metadata, spec: { suspend: rest.suspend }, status }));
}

const READY: PluginStatus = { phase: 'Ready', message: '2 objects healthy', observedGeneration: 2 };

test('says what the agent says', () => {
  assert.equal(why(READY), '2 objects healthy');
});

test('without a status nobody has looked', () => {
  assert.equal(why(undefined), 'not looked at yet');
});

test('a status about an older declaration is told as such', () => {
  assert.match(why({ ...READY, observedGeneration: 1 }), /^its last change was not looked at yet; before: 2 objects/);
});

test('suspending and deleting show before the agent has noticed', () => {
  assert.equal(why({ ...READY, observedGeneration: 1 }, { suspend: true }), 'suspended; before: 2 objects healthy');
  assert.equal(why(READY, { metadata: { deletionTimestamp: '2026-11-18T09:00:00Z' } }), 'is being deleted');
});

test('what could drive a terminal is spelled out', () => {
  assert.equal(why({ ...READY, message: 'a\u001b[2Jb\nc' }), 'a\\u001b[2Jb\\u000ac');
});
