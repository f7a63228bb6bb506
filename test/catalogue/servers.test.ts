import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartTgz } from '../charts/support/archives.ts';
import { startWebsite } from '../charts/support/website.ts';
import { configMap } from '../support/agent.ts';
import { chart, packageChart, pushChart, startTestRegistry } from '../support/charts.ts';
import { extensionYaml, instanceYaml, startCatalogue, uniqueName } from './scene.ts';

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

test('an extension from a registry whose tags are Kubernetes versions, and one from a web server', async (t) => {
  const [registry, site] = await Promise.all([startTestRegistry(t), startWebsite()]);
  t.after(() => site.close());
  const cloud = `http://${registry.host}/v2/extensions/cloud/manifests`;
  for (const [version, tag] of [
    ['0.3.0', 'v1.35'],
    ['0.4.0', 'v1.36'],
    ['0.5.0', 'v1.37'],
  ]) {
    const files = chart(
      'cloud',
      { 'templates/cm.yaml': configMap('cloud', { tag: tag ?? '' }) },
      { version: version ?? '' },
    );
    await pushChart(registry, packageChart(files), 'extensions');
    const body = await (await fetch(`${cloud}/${version}`, { headers: { accept: MANIFEST } })).text();
    assert.equal(
      (await fetch(`${cloud}/${tag}`, { method: 'PUT', headers: { 'content-type': MANIFEST }, body })).status,
      201,
    );
  }
  site.files.set(
    '/web.tgz',
    chartTgz('web', '1.0.0', { 'templates/cm.yaml': configMap('web', { from: 'web server' }) }),
  );
  const [follower, downloaded] = [uniqueName('cloud'), uniqueName('web')];
  const oci = { url: `oci://${registry.host}/extensions/cloud` };
  const scene = await startCatalogue(t, {
    files: {
      'catalogue/cloud.yaml': extensionYaml(follower, {
        plugin: { kind: 'helm' },
        versions: [{ tagsFollow: 'kubernetes', source: { oci } }],
      }),
      'catalogue/web.yaml': extensionYaml(downloaded, {
        plugin: { kind: 'template' },
        versions: [{ app: 'v1', source: { download: { url: `${site.url}/web.tgz` } } }],
      }),
      'instances/cloud.yaml': instanceYaml('cloud', { extension: follower }),
      'instances/web.yaml': instanceYaml('web', { extension: downloaded }),
    },
  });
  await scene.settles();
  const { gitVersion } = await scene.client.version();
  const minor = /^v1\.\d+/.exec(gitVersion)?.[0];
  await scene.instanceSays('cloud', new RegExp(`${minor} is installed and healthy`));
  await scene.instanceSays('web', /v1 is installed and healthy/);
  assert.deepEqual((await scene.get('ConfigMap', 'cloud'))?.data, { tag: minor });
  assert.deepEqual((await scene.get('ConfigMap', 'web'))?.data, { from: 'web server' });
  assert.equal((await scene.plugin('cloud'))?.status?.revision?.version, minor === 'v1.36' ? '0.4.0' : '0.3.0');
});
