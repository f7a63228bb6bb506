import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, EspalierError, messageOf } from '../api/index.ts';
import { withNextStep } from './cluster.ts';

const SERVER = 'https://10.0.0.1:6443';

function unknownKind(apiVersion: string): EspalierError {
  return new EspalierError('KubeKindUnknown', 'not served', { data: { apiVersion, kind: 'Sync' } });
}

test('a cluster without our kinds is told how to get them', () => {
  const message = messageOf(withNextStep(unknownKind(API_VERSION), SERVER));
  assert.match(message, /not installed in the cluster at https:\/\/10\.0\.0\.1:6443/);
  assert.match(message, /kubectl apply --server-side -k manifests/);
});

test('other failures stay as they are, and an unreachable server comes with what to check', () => {
  const other = unknownKind('example.com/v1');
  assert.equal(withNextStep(other, SERVER), other);
  const unreachable = new EspalierError('KubeUnreachable', "can't reach it");
  assert.match(messageOf(withNextStep(unreachable, SERVER)), /^can't reach it\. .*--kubeconfig and --context$/);
});
