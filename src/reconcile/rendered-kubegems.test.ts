import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { withOurPlugins } from './rendered-kubegems.ts';

const NGINX = {
  apiVersion: 'plugins.kubegems.io/v1beta1',
  kind: 'Plugin',
  metadata: { name: 'nginx' },
  spec: { url: 'https://charts.example.com' },
};

test('a rendered Plugin of KubeGems becomes one of ours in its place, and nothing else changes', () => {
  const other: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const installer: KubeObject = {
    apiVersion: 'plugins.kubegems.io/v1beta1',
    kind: 'Installer',
    metadata: { name: 'i' },
  };
  const [first, second, third] = withOurPlugins([other, NGINX, installer]);
  assert.equal(first, other);
  assert.equal(third, installer);
  assert.deepEqual(second, {
    apiVersion: 'espalier.dev/v1alpha1',
    kind: 'Plugin',
    metadata: { name: 'nginx' },
    spec: { kind: 'helm', source: { chart: { repository: 'https://charts.example.com', name: 'nginx' } } },
  });
});

test('a fault names the object, the file of the chart and what is expected', () => {
  const broken = { ...NGINX, spec: { url: 'charts/nginx', version: 'main' } };
  assert.throws(() => withOurPlugins([broken], () => 'all-in-one/templates/nginx.yaml'), {
    code: 'RenderFailed',
    message:
      /^the KubeGems Plugin nginx in all-in-one\/templates\/nginx\.yaml can't be used: spec\.url is "charts\/nginx", a folder, which only a Plugin that stands in a repository can name/,
  });
});
