import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { chartTgz } from '../charts/support/archives.ts';
import { espalier, startEspalier } from '../cli/support/espalier.ts';
import { writeFiles } from '../mirror/support/platform.ts';
import { eventually } from '../support/eventually.ts';
import { tempDir } from '../support/tempdir.ts';

const DEMO = [
  'expansion_name: demo',
  'expansion_version: v1.0',
  'operator: demo/operator:v1',
  'charts: [web-0.1.0.tgz, bad-0.1.0.tgz]',
  'images: ["demo/operator:v1", "demo/unused:v1"]',
  'images_loaded: true',
  'hooks: [pre-install, post-cluster-ready]',
  'files: [etc/demo.conf]',
  'create_cluster_delegate_conditions: [EnsureKubelet]',
].join('\n');
const BROKEN = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Not_A_Name}\n';
const FILES = {
  'expansion.yaml': DEMO,
  'charts/web-0.1.0.tgz': chartTgz('web', '0.1.0'),
  'charts/bad-0.1.0.tgz': chartTgz('bad', '0.1.0'),
  'hooks/pre-install': '#!/bin/sh\necho before\n',
  'hooks/post-cluster-ready': '#!/bin/sh\necho at last\n',
  'files/etc/demo.conf': 'on\n',
};

describe('espalier expansion test', () => {
  test('installs every material on a control plane of its own, plays the operator, and removes it all again', async (t) => {
    const dir = await tempDir(t);
    const wrong = await writeFiles(join(dir, 'wrong'), { 'expansion.yaml': 'files: [gone]' });
    const refused = await espalier(['expansion', 'test', wrong, '-o', 'json']);
    assert.deepEqual([refused.code, (JSON.parse(refused.stdout) as { faults: object[] }).faults.length], [1, 1]);
    const demo = await writeFiles(join(dir, 'demo'), FILES);
    const { code, stdout, stderr } = await espalier(['expansion', 'test', demo, '-o', 'json']);
    assert.equal(code, 0, stderr);
    const { materials } = JSON.parse(stdout) as { materials: { kind: string; name: string; outcome: string }[] };
    assert.deepEqual(
      materials.map(({ kind, name, outcome }) => `${outcome} ${kind} ${name}`),
      [
        'ok hook pre-install',
        'ok operator demo/operator:v1',
        'ok condition EnsureKubelet',
        'ok chart web-0.1.0.tgz',
        'ok chart bad-0.1.0.tgz',
        'ok hook post-cluster-ready',
        'ok image demo/operator:v1',
        'noted image demo/unused:v1',
        'noted file etc/demo.conf',
      ],
    );
    assert.match(stderr, /removed again, and nothing is left of it/);
  });

  test('tells which material did not come up and why, beside those that did; Ctrl-C leaves nothing behind', async (t) => {
    const files = { ...FILES, 'charts/bad-0.1.0.tgz': chartTgz('bad', '0.1.0', { 'templates/a.yaml': BROKEN }) };
    const demo = await writeFiles(join(await tempDir(t), 'demo'), files);
    const running = startEspalier(t, ['expansion', 'test', demo, '--keep'], { deadlineMs: 110_000, env: machine() });
    await eventually(() => assert.match(running.output.stderr, /left as it is until Ctrl-C/), { timeoutMs: 90_000 });
    running.kill('SIGINT');
    const { code, stdout } = await running.ended;
    assert.equal(code, 1);
    assert.match(stdout, /^ok +chart +web-0\.1\.0\.tgz/m);
    assert.match(stdout, /^failed +chart +bad-0\.1\.0\.tgz .*Not_A_Name/m);
    assert.match(stdout, /^failed +hook +post-cluster-ready/m);
    const [, kubeconfig = ''] = /KUBECONFIG=(.*)$/m.exec(running.output.stderr) ?? [];
    assert.match(kubeconfig, /playground-/);
    await assert.rejects(access(kubeconfig), /ENOENT/);
  });
});

/** What says where programs are kept, and how they are fetched. */
function machine(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
