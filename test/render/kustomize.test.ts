import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kustomizeInputs } from '../../src/render/kustomize-inputs.ts';
import { textTree } from '../declare/text-tree.ts';
import { config, names, render } from './given.ts';

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: app}]}
`;

/** An overlay over a base and a component beside it, with files in most of the ways that kustomize knows. */
const PLATFORM = {
  'base/web/kustomization.yaml': 'resources: [deployment.yaml]\nconfigurations: [names.yaml]\n',
  'base/web/names.yaml': 'namePrefix: []\n',
  'base/web/deployment.yaml': DEPLOYMENT,
  'base/web/unused.yaml': config('unused'),
  'parts/logging/kustomization.yaml':
    'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [log.yaml]\n',
  'parts/logging/log.yaml': config('log'),
  'clusters/prod/web/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: prod
resources:
- ../../../base/web
- extra.yaml
components: [../../../parts/logging/]
labels: [{pairs: {tier: prod}}]
images: [{name: app, newTag: "2"}]
replicas: [{name: web, count: 3}]
configMapGenerator:
- name: site
  files: [pages/index.html, about=pages/a.html]
  envs: [site.env]
  options: {disableNameSuffixHash: true}
secretGenerator:
- name: login
  literals: [user=admin]
patches:
- path: patches/paused.yaml
- target: {kind: Deployment}
  patch: '[{"op": "add", "path": "/metadata/annotations", "value": {"from": "patch"}}]'
patchesStrategicMerge:
- |-
  {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {minReadySeconds: 5}}
- patches/history.yaml
replacements: [{path: replacement.yaml}]
transformers:
- |-
  {apiVersion: builtin, kind: PrefixTransformer, metadata: {name: p}, prefix: eu-, fieldSpecs: [{path: metadata/name, kind: ConfigMap}]}
- plugins/annotate.yaml
generators: [plugins/generate.yaml]
`,
  'clusters/prod/web/extra.yaml': config('extra'),
  'clusters/prod/web/pages/index.html': '<h1>',
  'clusters/prod/web/pages/a.html': 'about',
  'clusters/prod/web/site.env': 'MODE=live\n',
  'clusters/prod/web/patches/paused.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {paused: true}\n',
  'clusters/prod/web/patches/history.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {revisionHistoryLimit: 2}\n',
  'clusters/prod/web/replacement.yaml': `source: {kind: ConfigMap, name: extra, fieldPath: data.a}
targets: [{select: {kind: ConfigMap, name: log}, fieldPaths: [data.a]}]
`,
  'clusters/prod/web/plugins/annotate.yaml':
    'apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata: {name: a}\nannotations: {by: kustomize}\nfieldSpecs: [{path: metadata/annotations, create: true}]\n',
  'clusters/prod/web/plugins/generate.yaml':
    'apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: made}\nname: made\nfiles: [pages/a.html]\noptions: {disableNameSuffixHash: true}\n',
};

describe('a kustomization', () => {
  it('is built with its bases, components, patches, generators and transformers', async () => {
    const { objects } = await render('kustomize', PLATFORM, { path: 'clusters/prod/web' });
    const byName = new Map(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]));
    assert.deepEqual([...byName.keys()].map((name) => name.replace(/-[a-z0-9]{10}$/, '')).sort(), [
      'ConfigMap eu-extra',
      'ConfigMap eu-log',
      'ConfigMap eu-made',
      'ConfigMap eu-site',
      'Deployment web',
      'Secret login',
    ]);
    const web = byName.get('Deployment web');
    assert.equal(web?.metadata.namespace, 'prod');
    assert.deepEqual(web?.metadata.annotations, { from: 'patch', by: 'kustomize' });
    const { template: _, selector: __, ...spec } = (web?.spec ?? {}) as Record<string, unknown>;
    assert.deepEqual(spec, { replicas: 3, paused: true, minReadySeconds: 5, revisionHistoryLimit: 2 });
    assert.deepEqual(byName.get('ConfigMap eu-site')?.data, { 'index.html': '<h1>', about: 'about', MODE: 'live' });
  });

  it('depends on just the files that it refers to', async () => {
    const inputs = await kustomizeInputs(textTree(PLATFORM), 'clusters/prod/web');
    assert.deepEqual(
      inputs,
      Object.keys(PLATFORM)
        .filter((path) => !path.endsWith('unused.yaml'))
        .sort(),
    );
  });

  it('has other inputs after a change in its base, and the same after one elsewhere', async () => {
    const ids = async (files: Record<string, string>) => {
      const tree = textTree(files);
      return Promise.all((await kustomizeInputs(tree, 'clusters/prod/web')).map((path) => tree.id(path)));
    };
    const before = await ids(PLATFORM);
    assert.deepEqual(await ids({ ...PLATFORM, 'base/web/unused.yaml': 'x', 'README.md': 'x' }), before);
    assert.notDeepEqual(await ids({ ...PLATFORM, 'base/web/deployment.yaml': `${DEPLOYMENT}# changed\n` }), before);
  });

  it('may be the repository itself, with a base that two others share', async () => {
    const files = {
      'kustomization.yml': 'resources: [a, b]\n',
      'a/Kustomization': 'resources: [../shared]\nnamePrefix: a-\n',
      'b/kustomization.yaml': 'resources: [../shared]\nnamePrefix: b-\n',
      'shared/kustomization.yaml': 'resources: [c.yaml]\n',
      'shared/c.yaml': config('c'),
    };
    assert.deepEqual(names(await render('kustomize', files, { path: '.' })), ['ConfigMap a-c', 'ConfigMap b-c']);
  });

  it('warns of fields that kustomize is about to drop', async () => {
    const files = {
      'app/kustomization.yaml': 'commonLabels: {a: b}\nresources: [c.yaml]\n',
      'app/c.yaml': config('c'),
    };
    assert.match((await render('kustomize', files)).warnings.join(), /^app: 'commonLabels' is deprecated\./);
  });

  it('keeps text that looks like something else', async () => {
    const files = {
      'app/kustomization.yaml': 'resources: [c.yaml]\n',
      'app/c.yaml': config('c', '{y: "on", n: "0777", d: "2001-01-01"}'),
    };
    assert.deepEqual((await render('kustomize', files)).objects[0]?.data, { y: 'on', n: '0777', d: '2001-01-01' });
  });

  for (const [situation, files, message] of [
    ['a folder without one', { 'app/a.yaml': config('a') }, /app has no kustomization\.yaml/],
    ['two in one folder', { 'app/kustomization.yaml': '{}', 'app/Kustomization': '{}' }, /has both/],
    ['broken YAML', { 'app/kustomization.yaml': 'resources: [' }, /app\/kustomization\.yaml:\d+:\d+: not valid YAML/],
    [
      'a file that does not exist',
      { 'app/kustomization.yaml': 'resources: [nope.yaml]' },
      /refers to "nope\.yaml", which does not exist/,
    ],
    [
      'what kustomize itself refuses',
      { 'app/kustomization.yaml': 'resources: [a.yaml]\nnamePrefix: {a: 1}', 'app/a.yaml': config('a') },
      /^kustomize build app: /,
    ],
    [
      'a resource that is no object',
      { 'app/kustomization.yaml': 'resources: [a.yaml]', 'app/a.yaml': 'hello: you\n' },
      /^kustomize build app: .*a\.yaml/,
    ],
  ] as const) {
    it(`with ${situation} fails with a message that helps`, async () => {
      await assert.rejects(render('kustomize', files), (error: Error) => {
        assert.match(error.message, message);
        assert.ok(!/espalier-render-|\/tmp\//.test(error.message), error.message);
        return true;
      });
    });
  }
});
