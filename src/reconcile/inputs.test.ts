import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, type Plugin, readAs, type Sync } from '../api/index.ts';
import { factsFrom } from './facts.ts';
import { inputsOf } from './inputs.ts';

const sync: Sync = readAs(
  {
    ...{ apiVersion: API_VERSION, kind: 'Sync', metadata: { name: 'platform', namespace: 'sys' } },
    spec: { repository: { url: 'https://git.example.com/p.git' }, values: { tier: 'gold' } },
  },
  'Sync',
);

function keyOf(spec: Record<string, unknown>): string {
  const metadata = { name: 'web', namespace: 'sys' };
  const plugin: Plugin = readAs({ apiVersion: API_VERSION, kind: 'Plugin', metadata, spec }, 'Plugin');
  const answer = inputsOf(
    plugin,
    factsFrom(plugin, sync, 'v1.36.3'),
    () => 'absent',
    () => ({}),
    'tree',
  );
  return answer.state === 'known' ? answer.key : answer.why;
}

const url = 'https://git.example.com/other.git';

/** Another key renders and applies everything anew, on every cluster: only a release that has to may change these. */
const KEYS: [spec: Record<string, unknown>, key: string][] = [
  [
    { kind: 'helm', source: { oci: { url: 'oci://registry.example.com/web', version: '1.0.0' } } },
    'cdf54d739206336a1bc01909509ea1a519b2d7a324db6cffdae72f85ef6fd47b',
  ],
  [
    { kind: 'manifests', source: { git: { path: 'apps/web', template: true } } },
    'aeac7269c1dd1c753ec44ebac4d447e31a04486c1125c24a0fe8c2735a9c7be9',
  ],
  [
    { kind: 'template', source: { git: { path: 'charts/web', url, ref: { branch: 'main' } } }, values: { a: 1 } },
    'd186756d0ebc464dfd3fe9c971794b2b55932dddbf3ff5fa4602c1dd7a456691',
  ],
];

test('the content keys of Plugins that were there before expansions stay what they were', () => {
  for (const [spec, key] of KEYS) assert.equal(keyOf(spec), key, JSON.stringify(spec));
});
