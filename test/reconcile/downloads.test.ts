import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findCondition } from '../../src/api/index.ts';
import { chartTgz, sha256, tgz, zip } from '../charts/support/archives.ts';
import { startWebsite } from '../charts/support/website.ts';
import { espalier } from '../cli/support/espalier.ts';
import { configMap, getPlugin, pluginReaches } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { startScene } from './scene.ts';

describe('what is downloaded', { concurrency: 2 }, () => {
  test('a chart by its .tgz, manifests by their .yaml, templates in a .tgz and a kustomization in a .zip', async (t) => {
    const site = await startWebsite();
    t.after(() => site.close());
    const chart = chartTgz('web', '1.2.3', { 'templates/cm.yaml': configMap('of-chart', { a: '{{ .Values.a }}' }) });
    site.files.set('/web.tgz', chart);
    site.files.set('/install.yaml', Buffer.from(configMap('plain', { a: '1' })));
    site.files.set('/greeter.tgz', tgz([{ path: 'greeter/cm.yaml', data: configMap('greeting', { a: '{{ .a }}' }) }]));
    site.files.set(
      '/release.zip',
      zip([
        { path: 'repo/base/kustomization.yaml', data: 'resources: [cm.yaml]\n' },
        { path: 'repo/base/cm.yaml', data: configMap('kustomized', { a: '1' }) },
        { path: 'repo/over/kustomization.yaml', data: 'resources: [../base]\nnamePrefix: my-\n' },
        { path: 'repo/docs', data: '../..', mode: 0o120777 },
      ]),
    );
    const scene = await startScene(t, {
      files: {
        'a/web.yaml': plugin('web', 'helm', { url: `${site.url}/web.tgz` }, { values: { a: 'x' } }),
        'a/plain.yaml': plugin('plain', 'manifests', { url: `${site.url}/install.yaml` }, { poll: '1s' }),
        'a/over.yaml': plugin('over', 'kustomize', { url: `${site.url}/release.zip`, path: 'repo/over' }),
        'a/greeter.yaml': plugin(
          'greeter',
          'manifests',
          { url: `${site.url}/greeter.tgz`, template: true },
          { values: { a: 'hello' } },
        ),
      },
    });
    const data = async (name: string) => (await scene.get('ConfigMap', name)).data as Record<string, string>;
    for (const [name, a] of [
      ['of-chart', 'x'],
      ['plain', '1'],
      ['my-kustomized', '1'],
      ['greeting', 'hello'],
    ])
      assert.deepEqual(await data(name ?? ''), { a }, name);
    const web = await getPlugin(scene.client, scene.namespace, 'web');
    assert.equal(web?.status?.resolved?.id, sha256(chart));
    assert.deepEqual([web?.status?.revision?.chart, web?.status?.revision?.version], ['web', '1.2.3']);

    await t.test(
      'what changes at its address is applied at the next look, and nothing is rendered while it is the same',
      async () => {
        const before = await getPlugin(scene.client, scene.namespace, 'plain');
        site.requests.length = 0;
        await eventually(() => assert.ok(site.requests.filter((one) => one === 'GET /install.yaml 304').length > 1));
        assert.equal(
          site.requests.some((one) => one.endsWith(' 200')),
          false,
        );
        const still = await getPlugin(scene.client, scene.namespace, 'plain');
        assert.equal(still?.metadata.resourceVersion, before?.metadata.resourceVersion);
        site.files.set('/install.yaml', Buffer.from(configMap('plain', { a: '2' })));
        await eventually(async () => assert.deepEqual(await data('plain'), { a: '2' }));
        const { status } = await pluginReaches(scene.client, scene.namespace, 'plain', 'Ready');
        assert.equal(status?.revision?.version, status?.resolved?.id.slice(7, 17));
      },
    );

    await t.test('the same archive at another address is no other revision, another folder in it is one', async () => {
      const before = await getPlugin(scene.client, scene.namespace, 'over');
      site.files.set('/mirror/release', site.files.get('/release.zip') ?? Buffer.alloc(0));
      scene.proxy.reset();
      await scene.settle({
        'a/over.yaml': plugin('over', 'kustomize', { url: `${site.url}/mirror/release`, path: 'repo/over' }),
      });
      await eventually(() => assert.ok(site.requests.includes('GET /mirror/release 200')));
      const moved = await pluginReaches(scene.client, scene.namespace, 'over', 'Ready');
      assert.equal(moved.status?.revision?.key, before?.status?.revision?.key);
      assert.deepEqual(scene.writesTo('my-kustomized'), []);
      const base = { url: `${site.url}/mirror/release`, path: 'repo/base' };
      await scene.settle({ 'a/over.yaml': plugin('over', 'kustomize', base) });
      await eventually(async () => assert.deepEqual(await data('kustomized'), { a: '1' }), { timeoutMs: 30_000 });
    });

    await t.test('a plan fetches what the agent has found, and says what a change would do', async () => {
      const { namespace, repository } = scene;
      const same = await espalier(['plan', repository.url, '-n', namespace, '--plugin', 'over']);
      assert.deepEqual([same.code, /no change/i.test(same.stdout)], [0, true], same.stdout + same.stderr);
      const rendered = await espalier(['render', repository.url, '-n', namespace, '--plugin', 'greeter', '-o', 'name']);
      assert.deepEqual([rendered.code, rendered.stdout], [0, 'configmap/greeting\n'], rendered.stderr);
      const offline = await espalier(['render', repository.url, '--offline', '--plugin', 'greeter']);
      assert.match(offline.stderr, /its source is on another server, which is not looked at with --offline/);
    });
  });

  test('what is not there, not what was required, or leads out of its folder is told and harms nobody', async (t) => {
    const site = await startWebsite();
    t.after(() => site.close());
    site.files.set('/good.yaml', Buffer.from(configMap('good', { a: '1' })));
    site.files.set('/escape.tgz', tgz([{ path: 'a/../../../tmp/x.yaml', data: 'x' }]));
    site.files.set('/link.zip', zip([{ path: 'cm.yaml', data: '/etc/passwd', mode: 0o120777 }]));
    const digest = sha256(site.files.get('/good.yaml') ?? Buffer.alloc(0));
    const wrong = `sha256:${'0'.repeat(64)}`;
    const manifests = (name: string, file: string, more: object = {}) =>
      plugin(name, 'manifests', { url: `${site.url}/${file}`, ...more });
    const { client, namespace } = await startScene(t, {
      files: {
        'a/good.yaml': manifests('good', 'good.yaml', { digest }),
        'a/other.yaml': manifests('other', 'good.yaml', { digest: wrong }),
        'a/gone.yaml': manifests('gone', 'gone.yaml'),
        'a/escape.yaml': manifests('escape', 'escape.tgz'),
        'a/link.yaml': manifests('link', 'link.zip'),
        'a/login.yaml': manifests('login', 'good.yaml', { secretRef: { name: 'none' } }),
      },
      until: undefined,
    });
    await pluginReaches(client, namespace, 'good', 'Ready');
    for (const [name, reason, message] of [
      ['other', 'DownloadRefused', /good\.yaml has the digest sha256:\w+, but sha256:0+ is required/],
      ['gone', 'DownloadNotFound', /has no file .*gone\.yaml \(404\)/],
      ['escape', 'DownloadRefused', /leads out of its folder/],
      ['link', 'RenderRefused', /cm\.yaml is a link, which is not followed/],
      ['login', 'DownloadAuthFailed', /Secret none, which its source names, does not exist/],
    ] as const) {
      const { status } = await pluginReaches(client, namespace, name, 'Failed');
      assert.match(status?.message ?? '', message);
      assert.equal(findCondition(status?.conditions, 'Ready')?.reason, reason, name);
    }
  });
});

function plugin(name: string, kind: string, download: object, more: object = {}): string {
  return JSON.stringify({
    apiVersion: 'espalier.dev/v1alpha1',
    kind: 'Plugin',
    metadata: { name },
    spec: { kind, source: { download }, ...more },
  });
}
