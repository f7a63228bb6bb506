import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { API_VERSION } from '../../src/api/index.ts';
import { startPlatform } from '../cases/support/platform.ts';
import { pluginYaml } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { type PackageWish, packageAt, removed } from './support/cluster-package.ts';
import { watchJobs } from './support/in-cluster.ts';

/** What wants a package otherwise than it stands in its folder: JSON is YAML. */
function overlay(name: string, spec: Record<string, unknown>): string {
  return JSON.stringify({ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name }, spec });
}

describe('an expansion package that can not be installed', { concurrency: 2 }, () => {
  test('is refused with every fault at its file and line, and so are conditions that nobody allowed and a second one', async (t) => {
    const [name, other] = [uniqueName('demo'), uniqueName('other')];
    const wish: PackageWish = {
      ...{ name, charts: ['web'] },
      fields: { operator: 'demo/operator:v1', create_cluster_delegate_conditions: ['EnsureKubelet'] },
    };
    const platform = await startPlatform(t, {
      prefix: 'expansion',
      files: {
        ...packageAt('packages/demo', wish),
        'packages/demo/hooks/pre-install': 'no script',
        'packages/demo/charts/web-0.1.0.tgz': 'no archive',
        'apps/one/objects.yaml': JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } }),
        'plugins/one.yaml': pluginYaml('one', 'apps/one'),
      },
    });
    await platform.reaches('Failed');
    const faults = (await platform.sync()).status?.faults ?? [];
    const told = faults.map(({ file, line, message }) => `${file}:${line}: ${message}`).join('\n');
    assert.match(told, /packages\/demo\/charts\/web-0\.1\.0\.tgz:1: does not load as a chart/);
    assert.match(told, /packages\/demo\/hooks\/pre-install:1: is not listed in expansion\.yaml/);
    assert.match(
      told,
      /packages\/demo\/expansion\.yaml:\d+: .*"EnsureKubelet" may not be delegated here: add it to spec\.expansions\.delegateConditions of Sync/,
    );
    assert.equal(faults.length, 3, told);
    await platform.pluginReaches('one', 'Ready');

    await platform.push({
      ...packageAt('packages/demo', { name, charts: ['web'] }),
      ...packageAt('packages/other', { name: other, charts: ['db'] }),
      'packages/demo/hooks/pre-install': null,
    });
    await platform.says(/expansion \S+ can't be installed beside \S+ \(packages\/\w+\/expansion.yaml:1\)/);
    await platform.push(removed(packageAt('packages/other', { name: other, charts: ['db'] })));
    await platform.settles();
    assert.equal(await platform.exists(`${name}-web`), true);

    const source = { git: { path: 'packages/demo' } };
    const put = packageAt('packages/other', { name: other, charts: ['db'] });
    await platform.push({ ...put, 'plugins/demo.yaml': overlay(name, { kind: 'expansion', source, enabled: false }) });
    await platform.settles();
    await platform.push({ 'plugins/demo.yaml': null });
    await platform.says(new RegExp(`expansion \\S+/${name} can't be installed beside \\S+/${other} `));
    assert.equal(
      await platform.exists(`${name}-web`),
      false,
      'it was there first, but is not the one that is installed',
    );

    await platform.approve(await platform.push(removed(put)));
    await platform.settles();
    assert.equal(await platform.exists(`${name}-web`), true);
    await platform.isGone('Plugin', other, API_VERSION);

    const third = uniqueName('third');
    await platform.client.apply(
      {
        ...{ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name: third, namespace: platform.namespace } },
        spec: { kind: 'expansion', source: { oci: { url: 'oci://registry.example.com/other', version: 'v1' } } },
      },
      { fieldManager: 'somebody' },
    );
    await platform.pluginSays(third, new RegExp(`expansion \\S+/${third} can't be installed beside \\S+/${name}:`));
  });

  test('because its hook or its operator never starts says so in time, tries a mended hook, and installs it with the next good commit', async (t) => {
    const name = uniqueName('demo');
    const hooks = ['pre-install'] as const;
    const wish: PackageWish = { ...{ name, charts: ['web'], hooks }, fields: { operator: 'demo/operator:v1' } };
    const declared = (timeout: string, step: string, kind: string, template: Record<string, unknown>): string =>
      overlay(name, {
        ...{ kind: 'expansion', source: { git: { path: 'packages/demo' } }, timeout },
        patches: [
          {
            target: { kind: 'Plugin', name: `${name}-${step}` },
            merge: { spec: { patches: [{ target: { kind }, merge: { spec: { template } } }] } },
          },
        ],
      });
    const nowhere = { spec: { nodeSelector: { scene: name } } };
    const platform = await startPlatform(t, {
      prefix: 'expansion',
      files: {
        ...packageAt('packages/demo', wish),
        'plugins/demo.yaml': declared('1s', 'pre-install', 'Job', nowhere),
      },
    });
    const jobs = watchJobs(t, platform);
    await platform.pluginSays(`${name}-pre-install`, /not healthy within 1s: Job .*0 of 1 completions/);
    await platform.push({ 'packages/demo/hooks/pre-install': '#!/bin/sh\necho mended\n' });
    const job = `${name}-pre-install-v1-0`;
    await eventually(() => assert.deepEqual(jobs.begun(), [job, job]));

    const unready = { metadata: { labels: { 'playground.espalier.dev/unready': 'true' } } };
    await platform.push({ 'plugins/demo.yaml': declared('4s', 'operator', 'Deployment', unready) });
    await platform.pluginSays(`${name}-operator`, /not healthy within 4s: Deployment .*0 of 1/);
    await platform.reaches('Failed');
    await platform.pluginSays(name, new RegExp(`${name}-operator: not healthy within 4s`));
    assert.equal(await platform.exists(`${name}-web`), false, 'no chart is installed before it');
    await platform.push({
      'plugins/demo.yaml': overlay(name, { kind: 'expansion', source: { git: { path: 'packages/demo' } } }),
    });
    await platform.settles();
    assert.equal(await platform.exists(`${name}-web`), true);
  });

  test('here, because it is for the management cluster, is left out, says why, and leaves the place to another', async (t) => {
    const [name, other] = [uniqueName('demo'), uniqueName('other')];
    const wish: PackageWish = { name, charts: ['web'], fields: { disable_pass_through_to_platform: true } };
    const beside = packageAt('packages/other', { name: other, charts: ['db'] });
    const files = { ...packageAt('packages/demo', wish), ...beside };
    const platform = await startPlatform(t, { prefix: 'expansion', files });
    await platform.settles();
    assert.equal(await platform.exists(`${other}-db`), true);
    await platform.pluginSays(name, /^nothing is installed here: disable_pass_through_to_platform/);
    await platform.restart();
    await platform.edit({ cluster: { labels: { 'espalier.dev/role': 'management' } } });
    await platform.says(new RegExp(`expansion \\S+/${name} can't be installed beside \\S+/${other} `));
    await platform.edit({ cluster: { labels: { 'espalier.dev/role': 'other' } } });
    await platform.settles();
    await platform.approve(await platform.push(removed(beside)));
    await platform.settles();
    await platform.push({ 'readme.txt': 'nothing is approved for this commit' });
    await platform.edit({ cluster: { labels: { 'espalier.dev/role': 'management' } } });
    await platform.pluginReaches(`${name}-web`, 'Ready');
    await platform.edit({ cluster: { labels: { 'espalier.dev/role': 'other' } } });
    await platform.pluginReaches(name, 'Held');
    await platform.approve(platform.commit);
    await platform.pluginSays(name, /^nothing is installed here/);
    await platform.isGone('ConfigMap', `${name}-web`);
  });
});
