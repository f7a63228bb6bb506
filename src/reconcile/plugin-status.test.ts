import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, type Plugin, readAs } from '../api/index.ts';
import { nextPluginStatus } from './plugin-status.ts';

const PLUGIN: Plugin = readAs(
  {
    apiVersion: API_VERSION,
    kind: 'Plugin',
    metadata: { name: 'demo', namespace: 'sys', generation: 1 },
    spec: { kind: 'manifests', source: { git: { path: 'demo' } }, suspend: true },
  },
  'Plugin',
);

test('a suspended Plugin says what is left alone, and that Plugins in it go on', () => {
  const message = (nested: boolean) => nextPluginStatus(PLUGIN, { phase: 'Suspended', nested }, {}, 0).message;
  assert.equal(message(false), 'suspended: changes in Git and drift are left alone');
  assert.match(message(true) ?? '', /^suspended: changes in Git are left alone; the Plugins in it go on/);
});
