import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { type KubeObject, validateObject } from '../../api/index.ts';
import { fromFlux } from './flux.ts';
import type { Imported } from './imported.ts';
import { objectsOf, worldWith } from './world.fixture.ts';

const SOURCES = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: podinfo, namespace: apps}
spec: {interval: 15m, url: https://charts.example.com, secretRef: {name: charts}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: registry, namespace: flux-system}
spec: {type: oci, url: oci://registry.example.com/charts, provider: aws, secretRef: {name: registry}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: ingress, namespace: apps}
spec: {interval: 10m, url: oci://registry.example.com/charts/ingress, ref: {semver: 4.x}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, url: ssh://git@git.example.com/platform/fleet.git, ref: {branch: main}, secretRef: {name: fleet}}
`;
const FLEET = 'https://git.example.com/platform/fleet';

describe('objects of Flux become Plugins:', () => {
  test('a HelmRelease, with all that it says and Espalier has too', () => {
    const { plugins, left } = imported(`
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: podinfo, namespace: apps}
spec:
  interval: 10m
  timeout: 3m
  releaseName: podinfo
  serviceAccountName: installer
  chart: {spec: {chart: podinfo, version: 6.5.*, interval: 5m, sourceRef: {kind: HelmRepository, name: podinfo}}}
  dependsOn: [{name: ingress}]
  install: {crds: CreateReplace, remediation: {retries: 3}}
  upgrade: {crds: CreateReplace, remediation: {retries: 3}}
  test: {enable: true}
  driftDetection: {mode: enabled, ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]}
  values: {replicaCount: 2}
  valuesFrom:
    - {kind: ConfigMap, name: base}
    - {kind: Secret, name: login, valuesKey: password, targetPath: auth.password, optional: true}
  postRenderers:
    - kustomize:
        patches:
          - target: {kind: Deployment, name: podinfo}
            patch: '[{op: add, path: /metadata/labels/team, value: web}]'
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: ingress, namespace: apps}
spec:
  chartRef: {kind: OCIRepository, name: ingress}
  driftDetection: {mode: enabled}
`);
    assert.deepEqual(left, []);
    assert.equal(
      stringify(plugins[0]),
      `apiVersion: espalier.dev/v1alpha1
kind: Plugin
metadata:
  name: podinfo
  namespace: apps
spec:
  kind: helm
  source:
    chart:
      repository: https://charts.example.com
      name: podinfo
      version: 6.5.*
      secretRef:
        name: charts
  poll: 5m
  values:
    replicaCount: 2
  valuesFrom:
    - kind: ConfigMap
      name: base
      key: values.yaml
    - kind: Secret
      name: login
      key: password
      prefix: auth
      optional: true
  patches:
    - target:
        kind: Deployment
        name: podinfo
      merge:
        metadata:
          labels:
            team: web
  dependsOn:
    - name: ingress
  drift:
    ignore:
      - target:
          kind: Deployment
        paths:
          - /spec/replicas
  upgrade:
    onFailure: rollback
    test: true
  timeout: 3m
  serviceAccountName: installer
  apply:
    adopt: true
`,
    );
    const { source, upgrade } = specOf(plugins[1]);
    assert.deepEqual(source, { oci: { url: 'oci://registry.example.com/charts/ingress', version: '4.x' } });
    assert.deepEqual(upgrade, { crds: 'create' }, 'Flux leaves kinds alone once they are there');
  });

  test('what has no counterpart is listed with its field, and what to do', () => {
    const { plugins, left } = imported(`
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps}
spec:
  targetNamespace: site
  chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: registry, namespace: flux-system}, valuesFiles: [values-prod.yaml]}}
  valuesFrom: [{kind: Secret, name: login, valuesKey: pw, targetPath: auth.password}]
  dependsOn: [{name: gone}]
  upgrade: {force: true}
  postRenderers: [{kustomize: {images: [{name: web, newTag: "2"}], patches: [{target: {kind: Deployment}, patch: '{spec: {template: {spec: {containers: [{name: web, image: other}]}}}}'}]}}]
`);
    const [plugin] = plugins;
    assert.equal(plugin?.metadata.name, 'site-web', 'Flux puts the target namespace before the name of the release');
    assert.deepEqual(specOf(plugin).namespace, { name: 'site' });
    assert.deepEqual(
      left.map(({ field }) => field),
      [
        'spec.chart.spec.valuesFiles',
        'HelmRepository flux-system/registry spec.secretRef',
        'HelmRepository flux-system/registry spec.provider',
        'spec.storageNamespace',
        'spec.upgrade.force',
        'spec.valuesFrom[0]',
        'spec.postRenderers[0].kustomize.images',
        'spec.postRenderers[0].kustomize.patches[0]',
        'spec.dependsOn[0]',
      ],
    );
    assert.match(
      whyOf(left, 'HelmRepository flux-system/registry spec.secretRef'),
      /copy Secret registry from namespace flux-system to apps/,
    );
    assert.match(whyOf(left, 'spec.valuesFrom[0]'), /a key password with prefix auth in place of pw/);
    assert.match(
      whyOf(left, 'spec.storageNamespace'),
      /are in namespace apps.*kubectl get secret -n apps -l owner=helm,name=site-web/,
    );
  });

  test('a Kustomization of the same repository is its folder; what Flux does on the way becomes a kustomization', () => {
    const result = imported(
      `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: infra, namespace: flux-system}
spec: {interval: 10m, prune: true, path: ./infra, sourceRef: {kind: GitRepository, name: fleet}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: flux-system}
spec:
  prune: false
  path: ./apps/web
  sourceRef: {kind: GitRepository, name: fleet}
  targetNamespace: web
  dependsOn: [{name: infra}]
  images: [{name: web, newTag: "2"}]
  components: [../../components/tls]
`,
      { [FLEET]: { 'infra/a.yaml': '', 'apps/web/kustomization.yaml': '' } },
      FLEET,
    );
    const [infra, web] = result.plugins;
    assert.deepEqual(infra?.spec, { kind: 'manifests', source: { git: { path: 'infra' } }, apply: { adopt: true } });
    assert.deepEqual(web?.spec, {
      kind: 'kustomize',
      source: { git: { path: 'kustomizations/flux-system/web' } },
      dependsOn: [{ name: 'infra' }],
      deletion: { policy: 'orphan' },
      apply: { adopt: true },
    });
    assert.equal(
      result.files.get('kustomizations/flux-system/web/kustomization.yaml'),
      `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - ../../../apps/web
components:
  - ../../../components/tls
namespace: web
images:
  - name: web
    newTag: "2"
`,
    );
    assert.deepEqual(
      result.left.map(({ field }) => field),
      ['spec.prune'],
    );
  });

  test('a Kustomization of another repository keeps its address, and what it changes as far as patches can', () => {
    const { plugins, left } = imported(`
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: flux-system}
spec:
  prune: true
  path: /apps/web/
  sourceRef: {kind: GitRepository, name: fleet}
  postBuild: {substitute: {cluster: prod}}
  decryption: {provider: sops}
  images: [{name: web, newTag: "2"}]
  patches: [{patch: "apiVersion: apps/v1\\nkind: Deployment\\nmetadata: {name: web}\\nspec: {replicas: 3}"}]
`);
    assert.deepEqual(specOf(plugins[0]).source, {
      git: {
        path: 'apps/web',
        url: 'ssh://git@git.example.com/platform/fleet.git',
        ref: { branch: 'main' },
        secretRef: { name: 'fleet' },
      },
    });
    assert.deepEqual(specOf(plugins[0]).patches, [
      { target: { group: 'apps', version: 'v1', kind: 'Deployment', name: 'web' }, merge: { spec: { replicas: 3 } } },
    ]);
    assert.deepEqual(
      left.map(({ field }) => field),
      ['spec.postBuild', 'spec.decryption', 'spec.path', 'spec.images'],
    );
  });

  test('what can not become a Plugin at all is listed as a whole, and why', () => {
    const { plugins, left } = imported(`
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: elsewhere, namespace: apps}
spec: {kubeConfig: {secretRef: {name: other}}, chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: podinfo}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: sourceless, namespace: apps}
spec: {chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: nowhere}}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {prune: true, path: ., sourceRef: {kind: GitRepository, name: fleet}}
status: {inventory: {entries: [{id: apps_podinfo_helm.toolkit.fluxcd.io_HelmRelease, v: v2}]}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: packed, namespace: apps}
spec: {prune: true, path: ., sourceRef: {kind: OCIRepository, name: ingress}}
`);
    assert.deepEqual(plugins, []);
    assert.deepEqual(
      left.map(({ object, why }) => `${object}: ${why}`),
      [
        'HelmRelease apps/elsewhere: it installs into another cluster: that cluster gets an agent of its own',
        'HelmRelease apps/sourceless: its chart comes from HelmRepository apps/nowhere, which is not there',
        'Kustomization flux-system/flux-system: it applies objects of Flux and nothing else (HelmRelease podinfo): they are imported themselves',
        'Kustomization apps/packed: its files come from OCIRepository apps/ingress, and Espalier takes manifests from Git: put them into the repository',
      ],
    );
  });

  test('a Kustomization that is called like a release makes way, and who depends on it follows', () => {
    const { plugins } = imported(`
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: podinfo, namespace: apps}
spec: {chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: podinfo}}}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: podinfo, namespace: apps}
spec: {prune: true, path: a, sourceRef: {kind: GitRepository, name: fleet, namespace: flux-system}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: next, namespace: flux-system}
spec: {prune: true, path: b, dependsOn: [{name: podinfo, namespace: apps}], sourceRef: {kind: GitRepository, name: fleet}}
`);
    assert.deepEqual(
      plugins.map(({ metadata }) => metadata.name),
      ['podinfo', 'podinfo-manifests', 'next'],
    );
    assert.deepEqual(specOf(plugins[2]).dependsOn, [{ name: 'podinfo-manifests', namespace: 'apps' }]);
  });
});

function imported(text: string, repositories: Record<string, Record<string, string>> = {}, same?: string): Imported {
  const objects = objectsOf<KubeObject>(text);
  const result = fromFlux(
    {
      releases: objects.filter(({ kind }) => kind === 'HelmRelease'),
      kustomizations: objects.filter(({ kind }) => kind === 'Kustomization'),
      sources: objectsOf<KubeObject>(SOURCES),
    },
    worldWith(repositories, same),
  );
  for (const plugin of result.plugins) assert.deepEqual(validateObject(plugin), [], plugin.metadata.name);
  return result;
}

function specOf(plugin: KubeObject | undefined): Record<string, unknown> {
  return (plugin?.spec ?? {}) as Record<string, unknown>;
}

function whyOf(left: Imported['left'], field: string): string {
  return left.find((one) => one.field === field)?.why ?? 'not listed';
}
