import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KubeObject, validateObject } from '../../api/index.ts';
import { fromArgo } from './argo.ts';
import { pointerOf } from './argo-ignore.ts';
import type { Imported } from './imported.ts';
import { objectsOf, worldWith } from './world.fixture.ts';

const HERE = 'destination: {server: https://kubernetes.default.svc, namespace: web}';
const AUTO = 'syncPolicy: {automated: {prune: true, selfHeal: true}}';
const APPS = 'https://git.example.com/apps.git';

describe('Applications of Argo CD become Plugins:', () => {
  test('a chart is rendered, not installed; files of values, values and parameters become one map', () => {
    const { plugins, left } = imported(
      `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  ${HERE}
  project: default
  syncPolicy: {automated: {prune: true, selfHeal: true}, syncOptions: [CreateNamespace=true, ServerSideApply=true, Replace=true]}
  ignoreDifferences:
    - {group: apps, kind: Deployment, jsonPointers: [/spec/replicas], jqPathExpressions: ['.spec.template.metadata.annotations."a.b/c"', '.spec.template.spec.initContainers[] | select(.name == "x")']}
  sources:
    - repoURL: https://charts.example.com
      chart: web
      targetRevision: 1.2.3
      helm:
        releaseName: site
        valueFiles: [$values/prod.yaml]
        values: "a: {b: 2, c: 3}"
        parameters: [{name: a.b, value: "4"}, {name: 'list[0].tag', value: "1.10", forceString: true}, {name: 'a.n', value: "7", forceString: true}]
    - {repoURL: ${APPS}, targetRevision: main, ref: values}
`,
      { [APPS]: { 'prod.yaml': 'a: {b: 1, d: 5}' } },
    );
    assert.equal(plugins.length, 1);
    assert.equal(plugins[0]?.metadata.name, 'site');
    assert.deepEqual(plugins[0]?.spec, {
      kind: 'template',
      source: { chart: { repository: 'https://charts.example.com', name: 'web', version: '1.2.3' } },
      values: { a: { b: 4, c: 3, d: 5, n: '7' }, list: [{ tag: '1.10' }] },
      namespace: { name: 'web', create: true },
      drift: {
        ignore: [
          {
            target: { group: 'apps', kind: 'Deployment' },
            paths: ['/spec/replicas', '/spec/template/metadata/annotations/a.b~1c'],
          },
        ],
      },
      apply: { adopt: true },
    });
    assert.deepEqual(
      left.map(({ field }) => field),
      [
        'spec.syncPolicy.syncOptions',
        'spec.ignoreDifferences[0].jqPathExpressions',
        'spec.sources[0]',
        'spec.sources[0].helm.valueFiles',
        'metadata.name',
      ],
    );
  });

  test('folders are told apart by what Argo CD found in them; charts of registries have no scheme there', () => {
    const { plugins } = imported(
      `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: oci, namespace: argocd}
spec: {${HERE}, ${AUTO}, source: {repoURL: registry.example.com/charts, chart: ingress, targetRevision: 4.1.0}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: plain, namespace: argocd}
spec: {${HERE}, ${AUTO}, source: {repoURL: ${APPS}, path: plain, targetRevision: v1.2.0, directory: {recurse: true}}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: overlay, namespace: argocd}
spec: {${HERE}, ${AUTO}, source: {repoURL: ${APPS}, path: overlays/prod, targetRevision: HEAD, kustomize: {images: ["web=registry.example.com:5000/web:2"], namePrefix: prod-}}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: folder, namespace: argocd}
spec: {${HERE}, ${AUTO}, source: {repoURL: ${APPS}, path: charts/web, targetRevision: main}}
status: {sourceType: Helm}
`,
    );
    assert.deepEqual(
      plugins.map(({ spec }) => [spec.kind, spec.source]),
      [
        ['template', { oci: { url: 'oci://registry.example.com/charts/ingress', version: '4.1.0' } }],
        ['manifests', { git: { path: 'plain', url: APPS, ref: { tag: 'v1.2.0' } } }],
        ['kustomize', { git: { path: 'overlays/prod', url: APPS } }],
        ['template', { git: { path: 'charts/web', url: APPS, ref: { branch: 'main' } } }],
      ],
    );
  });

  test('in the same repository what Argo CD changes becomes a kustomization', () => {
    const { files, left } = imported(
      `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: overlay, namespace: argocd}
spec: {${HERE}, ${AUTO}, source: {repoURL: ${APPS}, path: overlays/prod, kustomize: {images: ["web=registry.example.com:5000/web:2", "db@sha256:aa"], commonLabels: {a: b}}}}
`,
      {},
      'git@git.example.com:apps',
    );
    assert.equal(
      files.get('kustomizations/argocd/overlay/kustomization.yaml'),
      `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - ../../../overlays/prod
images:
  - name: web
    newName: registry.example.com:5000/web
    newTag: "2"
  - name: db
    digest: sha256:aa
labels:
  - pairs:
      a: b
    includeSelectors: true
`,
    );
    assert.deepEqual(left, []);
  });

  test('waves of one parent become dependencies on the wave before', () => {
    const app = (name: string, wave: string) => `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ${name}, namespace: argocd, labels: {app.kubernetes.io/instance: root}, annotations: {argocd.argoproj.io/sync-wave: "${wave}"}}
spec: {${HERE}, ${AUTO}, source: {repoURL: ${APPS}, path: ${name}, directory: {recurse: true}}}
`;
    const { plugins } = imported([app('late', '5'), app('first', '-1'), app('one', '2'), app('two', '2')].join('---'));
    assert.deepEqual(
      plugins.map(({ metadata, spec }) => [metadata.name, spec.dependsOn]),
      [
        ['first', undefined],
        ['one', [{ name: 'first' }]],
        ['two', [{ name: 'first' }]],
        ['late', [{ name: 'one' }, { name: 'two' }]],
      ],
    );
  });

  test('other clusters, programs, Jsonnet, sets and projects are listed', () => {
    const { plugins, left } = imported(
      `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: far, namespace: argocd}
spec: {destination: {name: prod-eu, namespace: web}, source: {repoURL: ${APPS}, path: a}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: program, namespace: argocd}
spec: {${HERE}, ${AUTO}, source: {repoURL: ${APPS}, path: a, plugin: {name: cdk8s}}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: jsonnet, namespace: argocd}
spec: {${HERE}, ${AUTO}, source: {repoURL: ${APPS}, path: a, directory: {jsonnet: {libs: [x]}}}}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: root, namespace: argocd}
spec: {${HERE}, ${AUTO}, source: {repoURL: ${APPS}, path: a}}
status: {resources: [{group: argoproj.io, kind: Application, name: far}]}
---
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all, namespace: argocd}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: web, namespace: argocd}
`,
    );
    assert.deepEqual(plugins, []);
    assert.deepEqual(
      left.map(({ object, field }) => `${object} ${field}`.trim()),
      [
        'Application argocd/far spec.destination',
        'Application argocd/program spec.source.plugin',
        'Application argocd/jsonnet spec.source.directory.jsonnet',
        'Application argocd/root',
        'ApplicationSet argocd/all',
        'AppProject argocd/web',
      ],
    );
  });

  test('of two that would be one Plugin the second is listed', () => {
    const app = (name: string) => `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: ${name}, namespace: argocd}
spec: {${HERE}, ${AUTO}, source: {repoURL: https://charts.example.com, chart: web, targetRevision: 1.0.0, helm: {releaseName: web}}}
`;
    const { plugins, left } = imported([app('a'), app('b')].join('---'));
    assert.equal(plugins.length, 1);
    assert.match(
      left.find(({ field }) => field === '')?.why ?? '',
      /it would be Plugin argocd\/web, and so is Application argocd\/a/,
    );
  });

  test('only plain paths of jq are JSON pointers', () => {
    assert.equal(pointerOf('.spec.replicas'), '/spec/replicas');
    assert.equal(pointerOf('.metadata.annotations["a/b~c"]'), '/metadata/annotations/a~1b~0c');
    assert.equal(pointerOf('.webhooks[0].clientConfig'), '/webhooks/0/clientConfig');
    assert.equal(pointerOf('.webhooks[]?.clientConfig'), undefined);
    assert.equal(pointerOf(''), undefined);
  });
});

function imported(text: string, repositories: Record<string, Record<string, string>> = {}, same?: string): Imported {
  const objects = objectsOf<KubeObject>(text);
  const applications = objects.filter(({ kind }) => kind === 'Application');
  const beside = objects.filter(({ kind }) => kind !== 'Application');
  const result = fromArgo({ applications, beside }, worldWith(repositories, same));
  for (const plugin of result.plugins) assert.deepEqual(validateObject(plugin), [], plugin.metadata.name);
  return result;
}
