import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  API_VERSION,
  applyDefaults,
  type Extension,
  type ExtensionInstance,
  type ExtensionInstanceDeclaration,
} from '../api/index.ts';
import { validateObject } from '../api/validate.ts';
import { type InstanceInput, resolveInstance } from './catalogue.ts';

type Versions = Extension['spec']['versions'];

const chart = (version: string) => ({ chart: { repository: 'https://charts.example.com', name: 'demo', version } });
const VERSIONS: Versions = [
  { app: 'v1.0.0', kubernetes: '<1.35', source: chart('1.0.0') },
  { app: 'v2.0.0', kubernetes: '>=1.35 <1.36', source: chart('2.0.0') },
  { app: 'v3.0.0', kubernetes: '>=1.35', source: chart('3.0.0') },
  { app: 'v4.0.0', kubernetes: '>=1.36', source: chart('4.0.0'), from: '>=3' },
] as Versions;

function extension(spec: Record<string, unknown> = {}, name = 'demo'): Extension {
  const object = {
    apiVersion: API_VERSION,
    kind: 'Extension',
    metadata: { name },
    spec: { versions: VERSIONS, ...spec },
  };
  return applyDefaults(object) as unknown as Extension;
}

function instance(
  spec: Partial<ExtensionInstanceDeclaration['spec']> = {},
  annotations: Record<string, string> = {},
): ExtensionInstance {
  const metadata = { name: 'mine', namespace: 'team', annotations };
  const object = { apiVersion: API_VERSION, kind: 'ExtensionInstance', metadata, spec: { extension: 'demo', ...spec } };
  return applyDefaults(object) as unknown as ExtensionInstance;
}

function resolve(input: Partial<InstanceInput> & { extensions?: Extension[] } = {}) {
  const catalogue = input.extensions ?? [extension()];
  return resolveInstance({
    instance: instance(),
    extension: (name) => catalogue.find(({ metadata }) => metadata.name === name),
    names: () => catalogue.map(({ metadata }) => metadata.name),
    kubernetes: 'v1.35.2',
    tags: () => [],
    installed: undefined,
    window: undefined,
    instancesOf: () => [],
    ...input,
  });
}

const at = (version: string, isReady = true) => ({ version, isReady });

describe('an instance', () => {
  test('becomes one Plugin of its name, with the defaults of the extension under its own parameters', () => {
    const parameters = { properties: { replicas: { type: 'integer', default: 2 }, host: { type: 'string' } } };
    const made = resolve({
      extensions: [extension({ parameters, class: 'system', plugin: { namespace: { name: 'demo', create: true } } })],
      instance: instance({ parameters: { host: 'a.b' }, valuesFrom: [{ kind: 'Secret', name: 's' }] }),
    });
    assert.ok(made.state === 'made');
    assert.deepEqual(made.plugin.metadata, {
      name: 'mine',
      namespace: 'team',
      labels: { 'espalier.dev/instance': 'mine', 'espalier.dev/extension': 'demo', 'espalier.dev/class': 'system' },
      annotations: { 'espalier.dev/extension-version': 'v3.0.0' },
    });
    const { kind, source, parameters: defaults, values, valuesFrom, namespace } = made.plugin.spec;
    assert.deepEqual(
      { kind, source, defaults, values, namespace },
      {
        kind: 'helm',
        source: chart('3.0.0'),
        defaults: { replicas: 2 },
        values: { host: 'a.b' },
        namespace: { name: 'demo', create: true },
      },
    );
    assert.equal(valuesFrom?.[0]?.name, 's');
    assert.deepEqual(validateObject(made.plugin), []);
  });

  test('on auto takes the newest version that fits, and says why and what else there is', () => {
    const made = resolve();
    assert.equal(made.version, 'v3.0.0');
    assert.equal(made.why, 'v3.0.0 is the newest that fits Kubernetes v1.35.2 (>=1.35)');
    assert.deepEqual(made.available, ['v2.0.0']);
  });

  test('moves with Kubernetes, over every step that the way needs', () => {
    const first = resolve({ kubernetes: 'v1.36.0', installed: at('v2.0.0') });
    assert.deepEqual([first.state, first.version], ['made', 'v3.0.0']);
    assert.deepEqual(first.next, { version: 'v4.0.0', waitsFor: 'v3.0.0 to be ready' });
    const between = resolve({ kubernetes: 'v1.36.0', installed: at('v3.0.0', false) });
    assert.deepEqual([between.version, between.next?.waitsFor], ['v3.0.0', 'v3.0.0 is ready']);
    const then = resolve({ kubernetes: 'v1.36.0', installed: at('v3.0.0') });
    assert.deepEqual([then.version, then.next], ['v4.0.0', undefined]);
    assert.equal(resolve({ kubernetes: 'v1.36.0' }).version, 'v4.0.0', 'a new one needs no steps');
  });

  test('goes back with Kubernetes too', () => {
    assert.equal(resolve({ kubernetes: 'v1.34.9', installed: at('v3.0.0') }).version, 'v1.0.0');
  });

  for (const [version, expected] of [
    ['~2', 'v2.0.0'],
    ['>=1', 'v3.0.0'],
    ['v2.0.0', 'v2.0.0'],
    ['2.0.0', 'v2.0.0'],
  ] as const) {
    test(`that asks for ${version} gets ${expected}`, () => {
      assert.equal(resolve({ instance: instance({ version }) }).version, expected);
    });
  }

  test('that no version fits says so, and what is installed is left as it is', () => {
    const versions = VERSIONS.slice(0, 1);
    const none = resolve({ extensions: [extension({ versions })] });
    assert.deepEqual([none.state, none.why], ['none', 'no version fits Kubernetes v1.35.2: v1.0.0 is for <1.35']);
    const left = resolve({ extensions: [extension({ versions })], installed: at('v1.0.0') });
    assert.deepEqual([left.state, left.version], ['left', 'v1.0.0']);
    assert.match(left.why, /^v1\.0\.0 stays: no version fits Kubernetes v1\.35\.2/);
  });

  test('that asks for a version that is not there is told which are', () => {
    const none = resolve({ instance: instance({ version: 'v9' }) });
    assert.equal(none.why, 'no version is "v9": there are v4.0.0, v3.0.0, v2.0.0, v1.0.0');
  });

  test('that no way leads to stays where it is', () => {
    const versions = [{ app: 'v4.0.0', source: chart('4.0.0'), from: '>=3' }] as Versions;
    const left = resolve({ extensions: [extension({ versions })], installed: at('v1.0.0') });
    assert.equal(left.state, 'left');
    assert.match(left.why, /v4\.0\.0 can be reached from >=3 only, and no version leads there from v1\.0\.0/);
  });

  test('passes over deprecated versions where another fits, and says so where none does', () => {
    const deprecated = { ...VERSIONS[2], deprecated: 'Broken.' } as Versions[number];
    const others = [...VERSIONS.slice(0, 2), deprecated];
    assert.equal(resolve({ extensions: [extension({ versions: others })] }).version, 'v2.0.0');
    const only = resolve({ extensions: [extension({ versions: [deprecated] })] });
    assert.match(only.why, /deprecated: Broken\./);
  });

  test('whose upgrades need approval stays until that very version is approved', () => {
    const upgrade = { approval: 'required' as const };
    const waiting = resolve({ instance: instance({ upgrade }), installed: at('v2.0.0') });
    assert.ok(waiting.state === 'made' && waiting.version === 'v2.0.0');
    assert.equal(waiting.next?.version, 'v3.0.0');
    assert.match(waiting.next?.waitsFor ?? '', /upgrade mine -n team --approve v3\.0\.0/);
    for (const [approved, version] of [
      ['v2.5.0', 'v2.0.0'],
      ['3.0.0', 'v3.0.0'],
    ] as const) {
      const annotations = { 'espalier.dev/approve-version': approved };
      assert.equal(resolve({ instance: instance({ upgrade }, annotations), installed: at('v2.0.0') }).version, version);
    }
    assert.equal(resolve({ instance: instance({ upgrade }) }).version, 'v3.0.0', 'what is new is no upgrade');
  });

  test('whose window is closed stays until it opens, but takes new parameters', () => {
    const opensAt = Date.UTC(2026, 0, 1);
    const waiting = resolve({
      installed: at('v2.0.0'),
      window: { open: false, opensAt },
      instance: instance({ parameters: { a: 1 } }),
    });
    assert.ok(waiting.state === 'made' && waiting.version === 'v2.0.0');
    assert.deepEqual(waiting.plugin.spec.values, { a: 1 });
    assert.deepEqual(
      [waiting.until, waiting.next?.waitsFor],
      [opensAt, 'its window opens at 2026-01-01T00:00:00.000Z'],
    );
    assert.equal(resolve({ installed: at('v2.0.0'), window: { open: true } }).version, 'v3.0.0');
  });

  test('of an extension that the catalogue does not hold is told of one alike; one that is installed stays', () => {
    const unknown = resolve({ instance: instance({ extension: 'dmo' }) });
    assert.deepEqual([unknown.state, unknown.why], ['refused', 'there is no extension "dmo"; did you mean demo?']);
    const left = resolve({ extensions: [], installed: at('v2.0.0') });
    assert.deepEqual([left.state, left.version], ['left', 'v2.0.0']);
  });

  test('with a wrong parameter is refused at the place of that parameter', () => {
    const parameters = { properties: { replicas: { type: 'integer', minimum: 1 } } };
    const refused = resolve({
      extensions: [extension({ parameters })],
      instance: instance({ parameters: { replicas: 0 } }),
    });
    assert.ok(refused.state === 'refused');
    const message = 'parameter replicas is the number 0, expected a whole number of at least 1';
    assert.deepEqual(refused.faults, [{ path: '/spec/parameters/replicas', message, in: 'instance' }]);
  });

  test('depends on the Plugins of the instances that its extension depends on, or is refused where there are none', () => {
    const needy = extension({ dependsOn: ['cert-manager'] });
    const plugins = [{ namespace: 'security', name: 'cm' }];
    const made = resolve({ extensions: [needy], instancesOf: () => plugins });
    assert.ok(made.state === 'made');
    assert.deepEqual(made.plugin.spec.dependsOn, plugins);
    const refused = resolve({ extensions: [needy] });
    assert.match(refused.why, /needs extension cert-manager, of which nothing is installed/);
    assert.equal(resolve({ extensions: [needy], installed: at('v2.0.0') }).state, 'refused');
  });

  test('of a system extension can not be switched off; any other can', () => {
    const off = instance({ enabled: false });
    assert.equal(resolve({ extensions: [extension({ class: 'system' })], instance: off }).state, 'refused');
    const made = resolve({ instance: off });
    assert.ok(made.state === 'made' && made.plugin.spec.enabled === false);
  });

  test('waits where the version of Kubernetes is not known', () => {
    assert.equal(resolve({ kubernetes: undefined }).state, 'none');
    assert.equal(resolve({ kubernetes: undefined, installed: at('v2.0.0') }).state, 'left');
  });
});

describe('a registry whose tags follow Kubernetes', () => {
  const oci = { url: 'oci://registry.example.com/demo' };
  const following = extension({ versions: [{ tagsFollow: 'kubernetes', source: { oci } }] });

  test('gives the tag of the minor version, the highest of several, whatever else it holds', () => {
    const tags = ['latest', 'v1.34', 'v1.35', 'v1.35.1', 'v1.35.0', 'v1.36', 'sha256-abc.sig', 'v135'];
    const made = resolve({ extensions: [following], tags: () => tags });
    assert.ok(made.state === 'made');
    assert.deepEqual(made.plugin.spec.source, { oci: { ...oci, version: 'v1.35.1' } });
    const moved = resolve({
      extensions: [following],
      tags: () => tags,
      kubernetes: 'v1.36.3',
      installed: at('v1.35.1'),
    });
    assert.equal(moved.version, 'v1.36');
  });

  test('may have tags with a build in them, which a Plugin names as a version', () => {
    const made = resolve({ extensions: [following], tags: () => ['v1.35.1_build.5'] });
    assert.ok(made.state === 'made');
    assert.deepEqual(made.plugin.spec.source, { oci: { ...oci, version: 'v1.35.1+build.5' } });
  });

  test('that has no tag for it leaves what is there', () => {
    const left = resolve({ extensions: [following], tags: () => ['v1.34'], installed: at('v1.34') });
    assert.deepEqual([left.state, left.version], ['left', 'v1.34']);
  });

  test('that does not answer takes nothing back', () => {
    const tags = () => ({ unknown: 'registry.example.com answered 401' });
    assert.equal(resolve({ extensions: [following], tags }).state, 'none');
    const versions = [...VERSIONS.slice(0, 2), { tagsFollow: 'kubernetes', source: { oci } }];
    const left = resolve({ extensions: [extension({ versions })], tags, installed: at('v3.0.0') });
    assert.deepEqual([left.state, left.why], ['left', 'v3.0.0 stays: registry.example.com answered 401']);
  });
});
