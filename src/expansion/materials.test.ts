import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptyExpansion } from './format.ts';
import { type Installed, materialsOf } from './materials.ts';

const EXPANSION = {
  ...emptyExpansion(),
  operator: 'demo/operator:v1',
  charts: ['web-0.1.0.tgz'],
  images: ['demo/operator:v1', 'demo/old:v1'],
  hooks: ['post-install', 'pre-install.tmpl'],
  files: ['etc/demo.conf.tmpl'],
  provider: ['docker/daemon.json'],
  create_cluster_delegate_conditions: ['EnsureKubelet'],
};

const ready = (says: string) => ({ ready: true, says });

test('tells what became of every material, in the order of an installation', () => {
  const installed: Installed = {
    steps: new Map([
      ['pre-install', ready('done')],
      ['operator', ready('runs')],
    ]),
    charts: new Map([['web-0.1.0.tgz', { ready: false, says: 'its pods crash' }]]),
    conditions: new Map([['EnsureKubelet', ready('opened')]]),
    images: new Set(['docker.io/demo/operator:v1', 'nginx:1.27']),
  };
  const told = materialsOf(EXPANSION, installed).map(({ kind, name, outcome, says }) => [kind, name, outcome, says]);
  assert.deepEqual(told, [
    ['hook', 'pre-install.tmpl', 'ok', 'done'],
    ['operator', 'demo/operator:v1', 'ok', 'runs'],
    ['condition', 'EnsureKubelet', 'ok', 'opened'],
    ['chart', 'web-0.1.0.tgz', 'failed', 'its pods crash'],
    ['hook', 'post-install', 'failed', 'nothing was installed for it'],
    ['image', 'demo/operator:v1', 'ok', 'what was installed uses it'],
    ['image', 'demo/old:v1', 'noted', 'nothing that was installed asks for it'],
    ['image', 'nginx:1.27', 'noted', 'what was installed asks for it, and the package does not bring it'],
    ['file', 'etc/demo.conf.tmpl', 'noted', 'for the nodes, as /etc/demo.conf: see espalier expansion merge'],
    ['provider', 'docker/daemon.json', 'noted', 'for the installer: see espalier expansion merge'],
  ]);
});

test('of an empty package there is nothing to tell', () => {
  const nothing = { steps: new Map(), charts: new Map(), conditions: new Map(), images: new Set<string>() };
  assert.deepEqual(materialsOf(emptyExpansion(), nothing), []);
});
