import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Plugin, PluginDeclaration, PluginStatus, SyncStatus } from '../index.ts';

/** The types that come out of the schemas: `tsc` fails when a line below an expectation compiles. */

const metadata = { name: 'web' };
const apiVersion = 'espalier.dev/v1alpha1';

test('a declaration may leave out what has a default, and nothing else', () => {
  const source = { git: { path: 'web' } };
  const good: PluginDeclaration = { apiVersion, kind: 'Plugin', metadata, spec: { kind: 'manifests', source } };
  // @ts-expect-error source is needed
  const bad: PluginDeclaration = { apiVersion, kind: 'Plugin', metadata, spec: { kind: 'manifests' } };
  assert.notDeepEqual(good, bad);
});

test('an object that was read has its defaults', () => {
  const mode = (plugin: Plugin): 'repair' | 'report' | 'ignore' => plugin.spec.drift.mode;
  // @ts-expect-error no such mode
  const wrong = (plugin: Plugin): boolean => plugin.spec.drift.mode === 'mend';
  // @ts-expect-error no such field
  const misspelt = (plugin: Plugin): unknown => plugin.spec.driftt;
  assert.equal(typeof mode, typeof wrong);
  assert.equal(typeof misspelt, 'function');
});

test('a phase is one of a few words', () => {
  const ready: PluginStatus = { phase: 'Ready' };
  // @ts-expect-error no such phase
  const done: PluginStatus = { phase: 'Done' };
  // @ts-expect-error a Sync never waits
  const waiting: SyncStatus = { phase: 'Waiting' };
  assert.notDeepEqual(ready, done);
  assert.equal(waiting.phase, 'Waiting');
});

test('an inventory entry names its object', () => {
  const good: PluginStatus = { inventory: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' }] };
  // @ts-expect-error name is needed
  const bad: PluginStatus = { inventory: [{ apiVersion: 'v1', kind: 'ConfigMap' }] };
  assert.notDeepEqual(good, bad);
});
