import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Playground } from './playground.ts';
import { describeForPeople, describeForScripts } from './report.ts';

const PLAYGROUND: Playground = {
  client: {} as never,
  kubeconfig: '/run/kubeconfig',
  cluster: 'Kubernetes v1.36.3 at https://127.0.0.1:20001',
  ownsCluster: true,
  git: { url: 'http://127.0.0.1:5/platform.git', user: 'espalier', password: 'pw' },
  charts: { repository: 'http://127.0.0.1:8', registry: 'oci://127.0.0.1:9/charts' },
  http: 'http://127.0.0.1:6',
  logs: '/run/logs',
  forge: null,
  hasAgent: true,
  broken: new Promise(() => {}),
  stop: async () => {},
};

test('scripts get one line with the agreed keys', () => {
  assert.equal(
    describeForScripts(PLAYGROUND, 7),
    '{"kubeconfig":"/run/kubeconfig","git":{"url":"http://127.0.0.1:5/platform.git","user":"espalier","password":"pw"},"forge":null,"http":"http://127.0.0.1:6","logs":"/run/logs","pid":7}',
  );
});

test('people get what is running, where, three things to try, and how it ends', () => {
  const text = describeForPeople(PLAYGROUND);
  for (const part of [
    'v1.36.3',
    '/run/kubeconfig',
    'http://127.0.0.1:6',
    'http://127.0.0.1:8',
    'oci://127.0.0.1:9/charts',
    '/run/logs',
    'Ctrl-C',
  ]) {
    assert.ok(text.includes(part), part);
  }
  assert.match(text, /git clone http:\/\/espalier:pw@127\.0\.0\.1:5\/platform\.git/);
  assert.equal(text.match(/^ {2}\d\. /gm)?.length, 3);
});

test('of a cluster that was there before it says that things stay', () => {
  assert.match(describeForPeople({ ...PLAYGROUND, ownsCluster: false }), /stay in the cluster/);
});
