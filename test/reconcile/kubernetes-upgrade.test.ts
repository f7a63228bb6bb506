import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckDocument } from '../../src/cli/check-model.ts';
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

test('a control plane is upgraded as the check before foretold: what is made for a Kubernetes version moves along, what is not stays untouched', async (t) => {
  const scene = await startUpgradeScene(t, {
    files: {
      'plugins/plain.yaml': pluginYaml('plain', 'apps/plain'),
      'plugins/old.yaml': pluginYaml('old', 'apps/old', { when: { kubernetes: '<1.36' } }),
      'plugins/new.yaml': pluginYaml('new', 'apps/new', { when: { kubernetes: '>=1.36' } }),
      'plugins/told.yaml': pluginYaml('told', 'charts/told', { kind: 'helm' }),
      ...Object.fromEntries(['plain', 'old', 'new'].map((name) => [`apps/${name}/cm.yaml`, configMap(name)])),
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
  assert.deepEqual(Object.fromEntries(told), { new: 'WouldBeInstalled', old: 'WouldBeRemoved', plain: '', told: '' });

  await scene.upgrade();

  await eventually(async () => assert.match(JSON.stringify(await data('told')), /v1\.36\./), { timeoutMs: 60_000 });
  await eventually(async () => assert.deepEqual([await data('old'), await data('new')], [undefined, { a: '1' }]));
  await pluginReaches(client, namespace, 'told', 'Ready');
  await syncReaches(client, namespace, 'Ready');
  assert.deepEqual((await revisions()).sort(), ['sh.helm.release.v1.told.v1', 'sh.helm.release.v1.told.v2']);
  assert.deepEqual(await scene.find('v1', 'ConfigMap', 'plain'), plain);
});
