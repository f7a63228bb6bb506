import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, KubeObject } from '../api/index.ts';
import { translateKubegems } from './kubegems.ts';
import { KUBEGEMS_API_VERSION } from './kubegems-kind.ts';

const URL = 'https://charts.example.com/stable';
const CHART = { chart: { repository: URL, name: 'web' } };

function given(spec: JsonObject, metadata: JsonObject = {}): KubeObject {
  const object = {
    apiVersion: KUBEGEMS_API_VERSION,
    kind: 'Plugin',
    metadata: { name: 'web', namespace: 'gems', ...metadata },
    spec,
  };
  return object as unknown as KubeObject;
}

function specOf(spec: JsonObject, inRepository = true): JsonObject {
  const answer = translateKubegems(given(spec), { inRepository });
  if ('faults' in answer) assert.fail(JSON.stringify(answer.faults));
  return answer.plugin.spec as JsonObject;
}

function faultsOf(spec: JsonObject, inRepository = true): string[] {
  const answer = translateKubegems(given(spec), { inRepository });
  if (!('faults' in answer)) assert.fail('it was translated');
  return answer.faults.map(({ path, message }) => `${path}: ${message}`);
}

describe('translates', () => {
  const helm = { kind: 'helm', source: CHART };
  const table: [what: string, theirs: JsonObject, ours: JsonObject][] = [
    [
      'the spelling of the proposal',
      { enabled: true, kind: 'helm', repo: URL, name: 'web', version: 'v1.0.0', values: { a: 1 } },
      { kind: 'helm', source: { chart: { repository: URL, name: 'web', version: 'v1.0.0' } }, values: { a: 1 } },
    ],
    [
      'the later spelling',
      { disabled: false, kind: 'helm', url: URL, chart: 'web', version: '~1.2' },
      { kind: 'helm', source: { chart: { repository: URL, name: 'web', version: '~1.2' } } },
    ],
    ['a name that is left out to that of the object', { url: URL }, helm],
    ['disabled', { url: URL, disabled: true }, { ...helm, enabled: false }],
    ['enabled: false', { url: URL, enabled: false }, { ...helm, enabled: false }],
    [
      'both spellings where they agree',
      { url: URL, repo: URL, enabled: false, disabled: true, name: 'web', chart: 'web' },
      { ...helm, enabled: false },
    ],
    [
      'installNamespace, which KubeGems creates',
      { url: URL, installNamespace: 'monitoring' },
      { ...helm, namespace: { name: 'monitoring', create: true } },
    ],
    ['a template', { kind: 'template', url: URL }, { kind: 'template', source: CHART }],
    [
      'a chart in a registry',
      { url: 'oci://registry.example.com/charts/web', version: '1.x' },
      { kind: 'helm', source: { oci: { url: 'oci://registry.example.com/charts/web', version: '1.x' } } },
    ],
    [
      'a registry and a chart in it',
      { url: 'oci://registry.example.com/charts', chart: 'web' },
      { kind: 'helm', source: { oci: { url: 'oci://registry.example.com/charts/web' } } },
    ],
    [
      'a Git repository',
      { kind: 'kustomize', url: 'https://git.example.com/a/b.git', path: 'deploy', version: 'v1.2.3' },
      {
        kind: 'kustomize',
        source: { git: { url: 'https://git.example.com/a/b.git', path: 'deploy', ref: { tag: 'v1.2.3' } } },
      },
    ],
    [
      'a branch',
      { url: 'ssh://git@git.example.com/a/b', version: 'release/2' },
      {
        kind: 'helm',
        source: { git: { url: 'ssh://git@git.example.com/a/b', path: '.', ref: { branch: 'release/2' } } },
      },
    ],
    [
      'a range of tags',
      { url: 'git@git.example.com:a/b.git', version: '~1.2' },
      { kind: 'helm', source: { git: { url: 'git@git.example.com:a/b.git', path: '.', ref: { semver: '~1.2' } } } },
    ],
    [
      'a commit',
      { url: 'https://git.example.com/b.git', version: 'a'.repeat(40) },
      {
        kind: 'helm',
        source: { git: { url: 'https://git.example.com/b.git', path: '.', ref: { commit: 'a'.repeat(40) } } },
      },
    ],
    [
      'HEAD',
      { url: 'https://git.example.com/b.git', version: 'HEAD' },
      { kind: 'helm', source: { git: { url: 'https://git.example.com/b.git', path: '.' } } },
    ],
    [
      'a branch by its whole name',
      { url: 'https://git.example.com/b.git', version: 'refs/heads/1.2' },
      { kind: 'helm', source: { git: { url: 'https://git.example.com/b.git', path: '.', ref: { branch: '1.2' } } } },
    ],
    [
      'an archive with a chart',
      { url: 'https://example.com/v1.tar.gz', path: 'web-1/chart', version: 'v1' },
      { kind: 'helm', source: { download: { url: 'https://example.com/v1.tar.gz', path: 'web-1/chart' } } },
    ],
    [
      'a packaged chart',
      { url: 'https://example.com/web-1.0.0.tgz' },
      { kind: 'helm', source: { download: { url: 'https://example.com/web-1.0.0.tgz' } } },
    ],
    [
      'a kustomization in a .zip',
      { kind: 'kustomize', url: 'https://example.com/v1.zip?token=1' },
      { kind: 'kustomize', source: { download: { url: 'https://example.com/v1.zip?token=1' } } },
    ],
    [
      'one file of manifests',
      { kind: 'native', url: 'https://example.com/install.yaml' },
      { kind: 'manifests', source: { download: { url: 'https://example.com/install.yaml' } } },
    ],
    [
      'native, from a folder of the repository',
      { kind: 'native', url: './deploy/native' },
      { kind: 'manifests', source: { git: { path: './deploy/native' } } },
    ],
    [
      'a folder and a path below it',
      { url: 'charts/', path: 'web' },
      { kind: 'helm', source: { git: { path: 'charts/web' } } },
    ],
    [
      'a path without a URL',
      { kind: 'kustomize', path: 'deploy' },
      { kind: 'kustomize', source: { git: { path: 'deploy' } } },
    ],
    [
      'a bare name among the dependencies',
      {
        url: URL,
        dependencies: [{ name: 'db' }, { kind: 'Plugin', name: 'mq', namespace: 'infra', version: '1.0.0' }],
      },
      { ...helm, dependsOn: [{ name: 'db' }, { name: 'mq', namespace: 'infra' }] },
    ],
    [
      'dependencies by the API versions of both systems',
      {
        url: URL,
        dependencies: [
          { apiVersion: KUBEGEMS_API_VERSION, kind: 'Plugin', name: 'a' },
          { apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', name: 'b' },
        ],
      },
      { ...helm, dependsOn: [{ name: 'a' }, { name: 'b' }] },
    ],
    [
      'dependencies on objects',
      {
        url: URL,
        dependencies: [
          { kind: 'Deployment', name: 'api', namespace: 'x' },
          { kind: 'CustomResourceDefinition', name: 'a.example.com', namespace: 'x' },
          { apiVersion: 'example.com/v1', kind: 'Plugin', name: 'p' },
        ],
      },
      {
        ...helm,
        dependsOn: [
          { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api', namespace: 'x' },
          { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'a.example.com' },
          { apiVersion: 'example.com/v1', kind: 'Plugin', name: 'p' },
        ],
      },
    ],
    [
      'valuesFrom in its order',
      {
        url: URL,
        valuesFrom: [
          { kind: 'ConfigMap', name: 'all', prefix: 'global.' },
          { kind: 'Secret', name: 'own', optional: true },
        ],
      },
      {
        ...helm,
        valuesFrom: [
          { kind: 'ConfigMap', name: 'all', prefix: 'global.' },
          { kind: 'Secret', name: 'own', optional: true },
        ],
      },
    ],
    [
      'values without their nulls',
      { url: URL, values: { a: null, b: { c: null, d: [null] } } },
      { ...helm, values: { b: { d: [null] } } },
    ],
  ];
  for (const [what, theirs, ours] of table) test(what, () => assert.deepEqual(specOf(theirs), ours));
});

test('adopts what is there already where the object asks for it', () => {
  const object = given({ url: URL }, { annotations: { 'espalier.dev/adopt': 'true' } });
  const answer = translateKubegems(object, { inRepository: false });
  assert.ok('plugin' in answer);
  assert.deepEqual(answer.plugin.spec.apply, { adopt: true });
});

test('keeps name, namespace, labels and annotations, without what kubectl noted for itself', () => {
  const object = given(
    { url: URL },
    {
      labels: { team: 'a' },
      annotations: { 'plugins.kubegems.io/category': 'core', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
      uid: 'u',
      resourceVersion: '3',
      finalizers: ['plugins.kubegems.io/finalizer'],
    },
  );
  const answer = translateKubegems(object, { inRepository: false });
  assert.ok('plugin' in answer);
  const annotations = { 'plugins.kubegems.io/category': 'core' };
  assert.deepEqual(answer.plugin.metadata, { name: 'web', namespace: 'gems', labels: { team: 'a' }, annotations });
});

describe('refuses, naming field and expectation:', () => {
  const table: [what: string, spec: JsonObject, expected: RegExp][] = [
    ['no source', {}, /^\/spec\/url: spec\.url is missing, expected a Helm repository, oci:/],
    [
      'two spellings that disagree',
      { repo: URL, url: 'https://b.example.com' },
      /^\/spec\/repo: spec\.repo and spec\.url are two names of one field/,
    ],
    [
      'enabled and disabled at once',
      { url: URL, enabled: true, disabled: true },
      /^\/spec\/enabled: spec\.enabled and spec\.disabled/,
    ],
    ['two chart names', { url: URL, name: 'a', chart: 'b' }, /^\/spec\/name: spec\.name and spec\.chart/],
    [
      'an unknown field',
      { url: URL, installNamspace: 'x' },
      /^\/spec\/installNamspace: .* is not a field; did you mean installNamespace\?/,
    ],
    [
      'an unknown kind',
      { url: URL, kind: 'kustomise' },
      /^\/spec\/kind: .*expected one of helm, kustomize, template, native \(did you mean kustomize\?\)/,
    ],
    [
      'a wrong type',
      { url: URL, disabled: 'yes' },
      /^\/spec\/disabled: spec\.disabled is "yes", expected true or false/,
    ],
    [
      'a version that is none',
      { repo: URL, version: 'main' },
      /^\/spec\/version: spec\.version is "main", expected a version or a range/,
    ],
    [
      'a namespace that can be none',
      { url: URL, installNamespace: 'A_b' },
      /^\/spec\/installNamespace: spec\.installNamespace must be a name of lower-case/,
    ],
    [
      'manifests from a Helm repository',
      { url: URL, kind: 'native' },
      /^\/spec\/url: .*taken for a Helm repository, but kind native expects a Git repository/,
    ],
    [
      'a path in a Helm repository',
      { url: URL, path: 'charts' },
      /^\/spec\/path: spec\.path is given, but a Helm repository has no folders/,
    ],
    [
      'a file of this machine',
      { url: 'file:///etc/passwd' },
      /^\/spec\/url: spec\.url is "file:\/\/\/etc\/passwd", expected a Helm repository/,
    ],
    ['a folder above the repository', { repo: '../charts' }, /^\/spec\/repo: spec\.repo is "\.\.\/charts", expected/],
    [
      'a chart in one file of YAML',
      { url: 'https://example.com/install.yaml' },
      /^\/spec\/url: .*one file of YAML, but kind helm expects a chart/,
    ],
    [
      'an object of unknown kind without its API version',
      { url: URL, dependencies: [{ name: 'a' }, { kind: 'Database', name: 'b' }] },
      /^\/spec\/dependencies\/1\/apiVersion: spec\.dependencies\[1\]\.apiVersion is missing/,
    ],
    [
      'a dependency without a name',
      { url: URL, dependencies: [{ kind: 'Secret' }] },
      /^\/spec\/dependencies\/0: .*name is missing/,
    ],
    [
      'values from elsewhere',
      { url: URL, valuesFrom: [{ kind: 'Pod', name: 'a' }] },
      /^\/spec\/valuesFrom\/0\/kind: .*expected one of ConfigMap, Secret/,
    ],
    [
      'a key __proto__',
      { url: URL, values: JSON.parse('{"__proto__": {"a": 1}}') },
      /^\/spec\/values\/__proto__: .*not allowed/,
    ],
    ['a Git URL with a blank', { url: 'https://git.example.com/a b.git' }, /^\/spec\/url: spec\.url must be a Git URL/],
  ];
  for (const [what, spec, expected] of table) {
    test(what, () => {
      const faults = faultsOf(spec);
      assert.equal(faults.length, 1, faults.join('\n'));
      assert.match(faults[0] ?? '', expected);
    });
  }
});

test('a folder means nothing outside of a repository', () => {
  assert.match(
    faultsOf({ url: 'charts/web' }, false)[0] ?? '',
    /which only a Plugin that stands in a repository can name/,
  );
  assert.match(
    faultsOf({}, false)[0] ?? '',
    /spec\.url is missing, expected a Helm repository, oci:.* or a \.tgz, \.tar\.gz, \.zip or \.yaml$/,
  );
});

test('says all that is wrong at once', () => {
  const faults = faultsOf({
    repo: URL,
    version: 'main',
    name: 'a',
    chart: 'b',
    dependencies: [{ kind: 'Database', name: 'b' }],
  });
  assert.equal(faults.length, 3, faults.join('\n'));
});

test('refuses another version of the kind', () => {
  const object = { ...given({ url: URL }), apiVersion: 'plugins.kubegems.io/v1alpha1' };
  const answer = translateKubegems(object, { inRepository: true });
  assert.ok('faults' in answer);
  assert.deepEqual(
    answer.faults.map(({ path, expected }) => [path, expected]),
    [['/apiVersion', KUBEGEMS_API_VERSION]],
  );
});

test('tells where the object says what the Plugin holds', () => {
  const answer = translateKubegems(given({ repo: URL, name: 'web', enabled: false }), { inRepository: true });
  assert.ok('plugin' in answer);
  for (const [ours, theirs] of [
    ['/spec/source/chart/repository', '/spec/repo'],
    ['/spec/source/chart/name', '/spec/name'],
    ['/spec/enabled', '/spec/enabled'],
    ['/spec/namespace/name', '/spec/installNamespace'],
    ['/spec/dependsOn/2/name', '/spec/dependencies/2/name'],
    ['/spec/values/a', '/spec/values/a'],
    ['/metadata/name', '/metadata/name'],
  ])
    assert.equal(answer.pointerOf(ours ?? ''), theirs);
});
