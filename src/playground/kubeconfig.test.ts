import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeconfigFor } from './kubeconfig.ts';

const server = { url: 'https://127.0.0.1:20001', certificate: 'CERT' };

test('a kubeconfig trusts its cluster alone and carries the credential', () => {
  const config = JSON.parse(kubeconfigFor(server, { token: 'secret' }));
  assert.equal(config['current-context'], config.contexts[0].name);
  assert.deepEqual(config.clusters[0].cluster, { server: server.url, 'certificate-authority-data': 'Q0VSVA==' });
  assert.deepEqual(config.users[0].user, { token: 'secret' });
});

test('a user proven by a certificate carries it in place', () => {
  const { user } = JSON.parse(kubeconfigFor(server, { client: { certificate: 'A', key: 'B' } })).users[0];
  assert.deepEqual(user, { 'client-certificate-data': 'QQ==', 'client-key-data': 'Qg==' });
});
