import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFault } from '../../src/declare/fault.ts';
import { namesOf, platform, plugin, read } from './platform.ts';

const NGINX = `apiVersion: plugins.kubegems.io/v1beta1
kind: Plugin
metadata:
  name: nginx
  namespace: gems
spec:
  repo: https://charts.example.com/stable
  version: 1.2.3
  values: {replicas: 1, keep: true}
`;

test('a Plugin of KubeGems is declared like one of ours, and overlays lie over it before it is translated', async () => {
  const overlay =
    'apiVersion: plugins.kubegems.io/v1beta1\nkind: Plugin\nmetadata: {name: nginx}\nspec: {values: {replicas: 3}, disabled: true}\n';
  const found = await read({ 'a/nginx.yaml': NGINX, 'clusters/prod/nginx.yaml': overlay });
  assert.deepEqual(found.faults.map(describeFault), []);
  const [declared] = found.objects;
  assert.equal(declared?.key, 'espalier.dev/Plugin/gems/nginx');
  assert.deepEqual(declared?.object, {
    apiVersion: 'espalier.dev/v1alpha1',
    kind: 'Plugin',
    metadata: { name: 'nginx', namespace: 'gems' },
    spec: {
      enabled: false,
      kind: 'helm',
      source: { chart: { repository: 'https://charts.example.com/stable', name: 'nginx', version: '1.2.3' } },
      values: { replicas: 3, keep: true },
    },
  });
  assert.deepEqual(
    declared?.parts.map(({ file }) => file),
    ['a/nginx.yaml', 'clusters/prod/nginx.yaml'],
  );
});

test('a folder of the repository is pinned to its content, and what is in it declares nothing', async () => {
  const native =
    'apiVersion: plugins.kubegems.io/v1beta1\nkind: Plugin\nmetadata: {name: native}\nspec: {kind: native, url: deploy, path: native}\n';
  const found = await read({ ...platform('a'), 'native.yaml': native, 'deploy/native/x.yaml': plugin('hidden') });
  assert.deepEqual(found.faults.map(describeFault), []);
  assert.deepEqual(namesOf(found), ['a', 'native']);
  const one = found.objects.find(({ object }) => object.metadata.name === 'native');
  assert.deepEqual(one?.paths, ['deploy/native']);
  assert.match(JSON.stringify(one?.object.spec), /"tree":"[0-9a-f]{40}"/);
});

test('what is wrong is told where it is written, in the words of its writer', async () => {
  const found = await read({
    'bad.yaml': `# gems\n${NGINX.replace('version: 1.2.3', 'version: main\n  installNamspace: web')}`,
    'folder.yaml': NGINX.replace('name: nginx', 'name: folder').replace(
      'https://charts.example.com/stable',
      './nowhere',
    ),
    'foreign.yaml': `${NGINX.replace('name: nginx', 'name: foreign').replace('  namespace: gems', '  uid: a')}`,
    'proto.yaml': NGINX.replace('name: nginx', 'name: proto').replace('replicas: 1', '__proto__: {a: 1}'),
    'version.yaml': NGINX.replace('name: nginx', 'name: version').replace('v1beta1', 'v1'),
    'nameless.yaml': NGINX.replace('  name: nginx\n', ''),
  });
  assert.deepEqual(namesOf(found), []);
  assert.deepEqual(found.faults.map(describeFault), [
    'bad.yaml:10:20: Plugin gems/nginx: spec.installNamspace is not a field; did you mean installNamespace?',
    'folder.yaml:7:9: Plugin gems/folder: spec.repo: "nowhere" does not exist at this commit, expected a path from the root of the repository',
    'foreign.yaml:5:8: Plugin espalier-system/foreign: metadata.uid is written by the cluster: leave it out',
    'nameless.yaml:3:1: metadata.name is missing, expected a name',
    'proto.yaml:9:12: Plugin gems/proto: the key __proto__ is not allowed',
    'version.yaml:1:13: Plugin gems/version: apiVersion is "plugins.kubegems.io/v1", expected plugins.kubegems.io/v1beta1',
  ]);
});

test('one name is one Plugin, whichever form it is written in', async () => {
  const ours = plugin('nginx').replace('name: nginx', 'name: nginx\n  namespace: gems');
  const twice = await read({ ...platform('nginx'), 'plugins/nginx.yaml': ours, 'nginx.yaml': NGINX });
  assert.deepEqual(twice.faults.map(describeFault), [
    'nginx.yaml:1:1: Plugin gems/nginx: declared again at plugins/nginx.yaml:1: remove one of the two',
    'plugins/nginx.yaml:1:1: Plugin gems/nginx: declared again at nginx.yaml:1: remove one of the two',
  ]);
  const mixed = await read({ 'nginx.yaml': NGINX, 'clusters/prod/nginx.yaml': ours });
  assert.deepEqual(mixed.faults.map(describeFault), [
    'clusters/prod/nginx.yaml:1:13: Plugin gems/nginx: this overlay is espalier.dev/v1alpha1 Plugin, but lies over plugins.kubegems.io/v1beta1 Plugin (nginx.yaml:1): write both in one form',
  ]);
});

test('other kinds of KubeGems are none of ours', async () => {
  const found = await read({
    ...platform('a'),
    'x.yaml': 'apiVersion: plugins.kubegems.io/v1beta1\nkind: Installer\nmetadata: {name: x}\n',
  });
  assert.deepEqual(found.faults.map(describeFault), []);
  assert.deepEqual(namesOf(found), ['a']);
});
