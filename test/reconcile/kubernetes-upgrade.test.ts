import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION, API_VERSION } from '../../src/api/index.ts';
import type { CheckDocument } from '../../src/cli/check-model.ts';
import { extensionYaml, instanceYaml, version } from '../catalogue/scene.ts';
import { espalier } from '../cli/support/espalier.ts';
import { configMap, pluginReaches, pluginYaml, syncReaches } from '../support/agent.ts';
import { chart, chartAt } from '../support/charts.ts';
import { eventually } from '../support/eventually.ts';
import { NEWER, startUpgradeScene } from './upgrade-scene.ts';

/** Says what Helm was told of the cluster. */
const TOLD = `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}}
data:
  version: {{ .Capabilities.KubeVersion.Version | quote }}
`;

const onlyOlder = { kubernetes: '<1.36' };
const onlyNewer = { kubernetes: '>=1.36' };

/** By `espalier check`. */
const FORETOLD = {
  ...{ new: 'WouldBeInstalled', old: 'WouldBeRemoved', plain: '', told: '' },
  ...{ base: 'Moves', top: 'Moves', stuck: 'NoVersionFits', asked: 'Waits' },
};

/** Two extensions that need one another, one that no version of fits the newer Kubernetes, and one that waits for consent. */
function catalogue(): Record<string, string> {
  const both = (name: string) => [
    version('v1', `apps/${name}-1`, onlyOlder),
    version('v2', `apps/${name}-2`, onlyNewer),
  ];
  const stuck = [version('v1', 'apps/stuck-1', onlyOlder)];
  const asked = { extension: 'asked', upgrade: { approval: 'required' } };
  const names = ['base-1', 'base-2', 'top-1', 'top-2', 'stuck-1', 'asked-1', 'asked-2'];
  return {
    'catalogue/base.yaml': extensionYaml('base', { class: 'default', versions: both('base') }),
    'catalogue/top.yaml': extensionYaml('top', { class: 'default', dependsOn: ['base'], versions: both('top') }),
    'catalogue/stuck.yaml': extensionYaml('stuck', { class: 'default', versions: stuck }),
    'catalogue/asked.yaml': extensionYaml('asked', { versions: both('asked') }),
    'instances/asked.yaml': instanceYaml('asked', asked),
    ...Object.fromEntries(names.map((name) => [`apps/${name}/cm.yaml`, configMap(name)])),
  };
}

test('a control plane is upgraded as the check before foretold: what is made for a Kubernetes version moves along, what is not stays untouched', async (t) => {
  const scene = await startUpgradeScene(t, {
    files: {
      'plugins/plain.yaml': pluginYaml('plain', 'apps/plain'),
      'plugins/old.yaml': pluginYaml('old', 'apps/old', { when: { kubernetes: '<1.36' } }),
      'plugins/new.yaml': pluginYaml('new', 'apps/new', { when: { kubernetes: '>=1.36' } }),
      'plugins/told.yaml': pluginYaml('told', 'charts/told', { kind: 'helm' }),
      ...Object.fromEntries(['plain', 'old', 'new'].map((name) => [`apps/${name}/cm.yaml`, configMap(name)])),
      ...catalogue(),
      ...chartAt('charts/told', chart('told', { 'templates/cm.yaml': TOLD })),
    },
  });
  const { client, namespace } = scene;
  const data = async (name: string) => (await scene.find('v1', 'ConfigMap', name))?.data;
  const revisions = async () => {
    const { items } = await client.list({ apiVersion: 'v1', kind: 'Secret', namespace, labelSelector: 'owner=helm' });
    return items.map(({ metadata }) => metadata.name);
  };
  assert.deepEqual(await data('told'), { version: 'v1.35.2' });
  assert.deepEqual([await data('old'), await data('new')], [{ a: '1' }, undefined]);
  const plain = await scene.find('v1', 'ConfigMap', 'plain');

  const args = ['check', '--kubernetes', NEWER, '-n', namespace, '--kubeconfig', scene.plane.kubeconfigPath];
  const { stdout } = await espalier([...args, '-o', 'json']);
  const told = (JSON.parse(stdout) as CheckDocument).items.map(({ name, findings }) => [
    name,
    findings.map(({ code }) => code).join(),
  ]);
  assert.deepEqual(Object.fromEntries(told), FORETOLD);

  await scene.upgrade();

  await eventually(async () => assert.match(JSON.stringify(await data('told')), /v1\.36\./), { timeoutMs: 60_000 });
  await eventually(async () => assert.deepEqual([await data('old'), await data('new')], [undefined, { a: '1' }]));
  await pluginReaches(client, namespace, 'told', 'Ready');

  // Extensions: what needs another follows it, what does not fit or was not approved stays as it is, and says so.
  const made = async (name: string) => (await scene.find('v1', 'ConfigMap', name))?.metadata;
  const instance = async (name: string) => await scene.find(API_VERSION, 'ExtensionInstance', name);
  const ready = async (name: string) => JSON.stringify((await instance(name))?.status);
  await eventually(async () => assert.match(await ready('top'), /v2 is installed and healthy/));
  const [base, top] = [await made('base-2'), await made('top-2')];
  assert.ok(Number(base?.resourceVersion) < Number(top?.resourceVersion), 'base first');
  assert.deepEqual([await made('base-1'), await made('top-1')], [undefined, undefined]);
  await eventually(async () => assert.match(await ready('stuck'), /v1 stays: no version fits Kubernetes v1\.36/));
  const waits = /v1 is installed and healthy; v2 waits: somebody approves it/;
  await eventually(async () => assert.match(await ready('asked'), waits));
  assert.ok((await made('stuck-1')) !== undefined && (await made('asked-1')) !== undefined);
  const consent = { metadata: { annotations: { [ANNOTATION.approveVersion]: 'v2' } } };
  const asked = { apiVersion: API_VERSION, kind: 'ExtensionInstance', namespace, name: 'asked' };
  await client.patch(asked, consent, { type: 'merge', fieldManager: 'somebody' });
  await eventually(async () => assert.match(await ready('asked'), /v2 is installed and healthy/));
  const sync = await syncReaches(client, namespace, 'Failed');
  assert.deepEqual(
    sync.status?.faults?.map(({ file }) => file),
    ['catalogue/stuck.yaml'],
  );
  assert.deepEqual((await revisions()).sort(), ['sh.helm.release.v1.told.v1', 'sh.helm.release.v1.told.v2']);
  assert.deepEqual(await scene.find('v1', 'ConfigMap', 'plain'), plain);
});
