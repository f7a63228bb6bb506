import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proxyFor } from './proxy.ts';

const HTTPS_PROXY = 'http://proxy:3128';

for (const [server, env, proxy] of [
  ['https://k8s.example.com', { HTTPS_PROXY }, HTTPS_PROXY],
  ['https://k8s.example.com', {}, undefined],
  ['https://k8s.example.com', { HTTPS_PROXY: 'proxy:3128' }, HTTPS_PROXY],
  ['https://k8s.example.com', { HTTPS_PROXY, NO_PROXY: 'example.com' }, undefined],
  ['https://k8s.example.com', { HTTPS_PROXY, NO_PROXY: '.example.com' }, undefined],
  ['https://example.com', { HTTPS_PROXY, NO_PROXY: '.example.com' }, HTTPS_PROXY],
  ['https://badexample.com', { HTTPS_PROXY, NO_PROXY: 'example.com' }, HTTPS_PROXY],
  ['https://k8s.example.com:6443', { HTTPS_PROXY, NO_PROXY: 'k8s.example.com:6443' }, undefined],
  ['https://k8s.example.com:6443', { HTTPS_PROXY, NO_PROXY: 'k8s.example.com:443' }, HTTPS_PROXY],
  ['https://10.96.0.1', { HTTPS_PROXY, NO_PROXY: '10.0.0.0/8' }, undefined],
  ['https://11.96.0.1', { HTTPS_PROXY, NO_PROXY: '10.0.0.0/8' }, HTTPS_PROXY],
  ['https://[fd00::1]', { HTTPS_PROXY, NO_PROXY: 'fd00::/8' }, undefined],
  ['https://k8s.example.com', { HTTPS_PROXY, NO_PROXY: '*' }, undefined],
  ['https://127.0.0.1:6443', { HTTPS_PROXY }, undefined],
  ['https://localhost', { HTTPS_PROXY }, undefined],
  ['http://k8s.example.com', { HTTPS_PROXY }, undefined],
] as const) {
  test(`${server} with ${JSON.stringify(env)} goes ${proxy === undefined ? 'straight' : 'through the proxy'}`, () => {
    assert.equal(proxyFor({ server, user: {} }, env), proxy);
  });
}

test('the kubeconfig’s own proxy wins', () => {
  const config = { server: 'https://k8s.example.com', proxyUrl: 'socks5://hop:1080', user: {} };
  assert.equal(proxyFor(config, { HTTPS_PROXY, NO_PROXY: '*' }), 'socks5://hop:1080');
});
