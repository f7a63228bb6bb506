import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { API_VERSION } from '../../src/api/index.ts';
import { planSource } from '../../src/cli/plan-source.ts';
import { startPlatform } from '../cases/support/platform.ts';
import { chartTgz } from '../charts/support/archives.ts';
import { espalier } from '../cli/support/espalier.ts';
import { startFront } from '../mirror/support/front.ts';
import { writeFiles } from '../mirror/support/platform.ts';
import { startTestRegistry } from '../support/charts.ts';
import { commitFiles } from '../support/gitserver.ts';
import { uniqueName } from '../support/names.ts';
import { tempDir } from '../support/tempdir.ts';
import { watchJobs } from './support/in-cluster.ts';
import { demoPackage } from './support/package.ts';

describe('an expansion package that stands elsewhere', () => {
  test('in a registry, as a .tgz, in another repository, is the same package, and secret values stay in Secrets', async (t) => {
    const registry = await startTestRegistry(t);
    const front = await startFront(registry.host);
    t.after(() => front.close());
    const dir = await tempDir(t);
    const greets = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: demo}\ndata: {a: {{ .Values.greeting | default "none" }}}\n`;
    const chart = chartTgz('demo', '0.1.0', { 'templates/cm.yaml': greets });
    const folder = await demoPackage(dir, { 'charts/demo-0.1.0.tgz': chart });
    const at = `oci://${front.host}/expansions/demo`;
    const tgz = join(dir, 'demo.tgz');
    assert.equal((await espalier(['expansion', 'push', folder, '--package', at])).code, 0);
    assert.equal((await espalier(['expansion', 'build', folder, '-o', tgz])).code, 0);
    const name = uniqueName('demo');
    const declared = (source: Record<string, unknown>, more: Record<string, unknown> = {}): string =>
      JSON.stringify({
        ...{ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name } },
        spec: { kind: 'expansion', source, valuesFrom: [{ kind: 'Secret', name: 'mirror', key: 'mirror' }], ...more },
      });
    front.requests.length = 0;
    const platform = await startPlatform(t, {
      prefix: 'expansion',
      files: { 'plugins/demo.yaml': declared({ oci: { url: at, version: 'v1.0' } }) },
      prepare: async (client, namespace) => {
        const stringData = { mirror: 'very-secret' };
        await client.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mirror', namespace }, stringData });
      },
    });
    const jobs = watchJobs(t, platform);
    await platform.settles();
    assert.deepEqual(jobs.begun(), [`${name}-post-install-v1-0`]);
    const script = await platform.get('Secret', `${name}-post-install-v1-0`);
    const text = (script?.data as Record<string, string> | undefined)?.['post-install'] ?? '';
    assert.equal(Buffer.from(text, 'base64').toString(), '#!/bin/sh\necho very-secret\n');
    const plugins = await platform.client.list({ ...platform.ref('Plugin', '', API_VERSION) });
    assert.doesNotMatch(JSON.stringify(plugins.items), /very-secret/);
    const fetched = front.requests.map((request) => JSON.stringify(request)).join('\n');
    const manifest = JSON.parse((await espalier(['expansion', 'show', `${at}:v1.0`, '-o', 'json'])).stdout) as {
      files: Record<string, { sha256: string }>;
    };
    assert.match(fetched, new RegExp(manifest.files['expansion.yaml']?.sha256 ?? '?'));
    assert.doesNotMatch(fetched, new RegExp(manifest.files['images.tar.gz']?.sha256 ?? '?'), 'images are not fetched');

    const next = {
      'packages/demo.tgz': await readFile(tgz),
      'plugins/demo.yaml': declared({ git: { path: 'packages/demo.tgz' } }, { values: { demo: { greeting: 'x' } } }),
    };
    const source = await writeFiles(join(dir, 'next'), next);
    const { client, namespace } = platform;
    const plan = await planSource({ client, namespace, source, flags: {}, progress: () => undefined });
    const inChart = plan.plugins.find(({ plugin }) => plugin.name === `${name}-demo`)?.objects;
    assert.deepEqual(
      inChart?.map(({ action, ref }) => `${action} ${ref.kind} ${ref.name}`),
      ['change ConfigMap demo'],
      'the values in a Secret that the same commit changes are looked into',
    );
    assert.doesNotMatch(JSON.stringify(plan), /very-secret/);
    await platform.push(next);
    await platform.settles();
    const release = await platform.plugin(`${name}-demo`);
    assert.deepEqual(release?.spec.source.git?.inside, 'charts/demo-0.1.0.tgz');
    assert.deepEqual(
      release?.spec.valuesFrom?.map(({ kind }) => kind),
      ['Secret'],
    );

    const other = await platform.server.createRepository('packages');
    await commitFiles(other, { 'demo.tgz': await readFile(tgz) });
    await platform.push({
      'packages/demo.tgz': null,
      'plugins/demo.yaml': declared({ git: { url: other.url, path: 'demo.tgz' } }),
    });
    await platform.settles();
    assert.match((await platform.plugin(`${name}-demo`))?.spec.source.git?.ref?.commit ?? '', /^[0-9a-f]{40}$/);
    assert.deepEqual(jobs.begun(), [`${name}-post-install-v1-0`], 'the same version: its hook has run');
  });
});
