import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION } from '../../src/api/index.ts';
import { widgetKind } from '../cases/support/widgets.ts';
import { configMap, pluginYaml } from '../support/agent.ts';
import { always, eventually } from '../support/eventually.ts';
import { extensionYaml, instanceYaml, startCatalogue, uniqueName, version } from './scene.ts';

test('an instance that a person makes takes values, rights and folders from the Sync of its extension, and takes its Plugin along', async (t) => {
  const [demo, needy] = [uniqueName('demo'), uniqueName('needy')];
  const template = { git: { path: 'apps/one', template: true } };
  const entry = (app: string) =>
    extensionYaml(demo, {
      parameters: { properties: { size: { type: 'integer', default: 1 } } },
      versions: [{ app, source: template }],
    });
  const scene = await startCatalogue(t, {
    files: {
      'catalogue/demo.yaml': entry('v1'),
      'catalogue/needy.yaml': extensionYaml(needy, { dependsOn: [demo], versions: [version('v1', 'apps/two')] }),
      'apps/one/cm.yaml': configMap('one', { size: '{{ .size }}', zone: '{{ .zone }}' }),
      'apps/two/cm.yaml': configMap('two'),
      'plugins/other.yaml': pluginYaml('other', 'apps/other'),
      'apps/other/cm.yaml': configMap('other'),
    },
    spec: { values: { zone: 'eu' } },
  });
  await scene.settles();
  await scene.apply(instanceYaml('second', { extension: needy }));
  await scene.instanceSays('second', new RegExp(`needs extension ${demo}, of which nothing is installed`), 'False');

  await scene.apply(instanceYaml('first', { extension: demo, parameters: { size: 7 } }));
  await scene.instanceSays('first', /v1 is installed and healthy/);
  assert.deepEqual((await scene.get('ConfigMap', 'one'))?.data, { size: '7', zone: 'eu' });
  await scene.instanceSays('second', /v1 is installed and healthy/);
  assert.deepEqual((await scene.plugin('second'))?.spec.dependsOn, [{ name: 'first', namespace: scene.namespace }]);

  await scene.apply(instanceYaml('first', { extension: demo, parameters: { size: 'x' } }));
  await scene.instanceSays('first', /parameter size is "x", expected a whole number/, 'False');
  assert.deepEqual((await scene.get('ConfigMap', 'one'))?.data, { size: '7', zone: 'eu' }, 'nothing changed');
  await scene.apply(instanceYaml('first', { extension: demo }));
  await eventually(async () =>
    assert.deepEqual((await scene.get('ConfigMap', 'one'))?.data, { size: '1', zone: 'eu' }),
  );

  // The catalogue moves on, then drops the entry, and the agent starts anew: nothing of this uninstalls.
  await scene.push({ 'catalogue/demo.yaml': entry('v2') });
  await scene.instanceSays('first', /v2 is installed and healthy/);
  await scene.push({ 'catalogue/demo.yaml': null });
  await scene.instanceSays('first', /v2 stays: the catalogue no longer has an extension/, 'False');
  await scene.restart();
  await always(async () => assert.ok(await scene.exists('one')), { forMs: 500 });

  // Who is needed goes last.
  await scene.client.delete(scene.ref('ExtensionInstance', 'first', API_VERSION));
  await scene.instanceSays('first', new RegExp(`still needed by ${scene.namespace}/second`), 'False');
  await always(async () => assert.ok(await scene.exists('one')), { forMs: 300 });
  await scene.client.delete(scene.ref('ExtensionInstance', 'second', API_VERSION));
  for (const name of ['second', 'first']) await scene.isGone('ExtensionInstance', name, API_VERSION);
  assert.deepEqual([await scene.exists('one'), await scene.exists('two')], [false, false]);
});

test('what is wrong in the catalogue is told where it is, and takes down nothing else', async (t) => {
  const [good, a, b, typo, unfit] = ['good', 'a', 'b', 'typo', 'unfit'].map(uniqueName) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const scene = await startCatalogue(t, {
    files: {
      'catalogue/good.yaml': extensionYaml(good, {
        class: 'default',
        logo: 'logos/large.svg',
        versions: [version('v1', 'apps/good')],
      }),
      'apps/good/cm.yaml': configMap('good'),
      'catalogue/cycle.yaml': [
        extensionYaml(a, { dependsOn: [b], versions: [version('v1', 'apps/good')] }),
        extensionYaml(b, { dependsOn: [a], versions: [version('v1', 'apps/good')] }),
      ].join('\n---\n'),
      'instances/a.yaml': instanceYaml('a', { extension: a }),
      'instances/b.yaml': instanceYaml('b', { extension: b }),
      'catalogue/typo.yaml': extensionYaml(typo, {
        class: 'default',
        parameters: { properties: { size: { type: 'number', minimum: 'one' } } },
        versions: [version('v1', 'apps/good')],
      }),
      'instances/unknown.yaml': instanceYaml('unknown', { extension: `${good}x` }),
      'instances/outside.yaml': JSON.stringify({
        apiVersion: API_VERSION,
        kind: 'ExtensionInstance',
        metadata: { name: 'outside', namespace: 'kube-system' },
        spec: { extension: good },
      }),
      'instances/range.yaml': instanceYaml('range', { extension: good, version: 'newest!' }),
      'logos/large.svg': `<svg>${' '.repeat(2_000_000)}</svg>`,
      'catalogue/unfit.yaml': extensionYaml(unfit, {
        class: 'default',
        versions: [version('v1', 'apps/good', { kubernetes: '<1.10' })],
      }),
    },
    spec: { allowedNamespaces: [] },
  });
  const sync = await scene.reaches('Failed');
  const told = (sync.status?.faults ?? []).map(({ file, message }) => `${file}: ${message}`).sort();
  assert.equal(
    await eventually(async () => ((await scene.exists('good')) ? true : Promise.reject(new Error('no'))), {}),
    true,
  );
  const expected = [
    /^catalogue\/good\.yaml: spec\.logo: logos\/large\.svg has 1954 KiB, and a logo may have 256/,
    /^catalogue\/typo\.yaml: extension typo-\w+: parameters\.properties\.size\.minimum must be a number/,
    /^catalogue\/unfit\.yaml: no version fits Kubernetes v1\.\d+\.\d+: v1 is for <1\.10/,
    /^instances\/(a|b)\.yaml: .*(cycle|circle|each other)/i,
    /^instances\/outside\.yaml: the namespace "kube-system" is not among spec\.allowedNamespaces/,
    /^instances\/range\.yaml: spec\.version must be auto, a version, or a range/,
    /^instances\/unknown\.yaml: there is no extension "good-\w+x"; did you mean good-/,
  ];
  for (const one of expected)
    assert.ok(
      told.some((line) => one.test(line)),
      `${one}\n${told.join('\n')}`,
    );
});

test('definitions and their objects, in one extension and across two that need one another, converge in one pass without a failed apply or a warning', async (t) => {
  const widgets = widgetKind(t);
  const [maker, user] = [uniqueName('maker'), uniqueName('user')];
  const scene = await startCatalogue(t, {
    files: {
      'catalogue/user.yaml': extensionYaml(user, {
        class: 'default',
        dependsOn: [maker],
        versions: [version('v1', 'apps/user')],
      }),
      'catalogue/maker.yaml': extensionYaml(maker, { class: 'default', versions: [version('v1', 'apps/maker')] }),
      'apps/maker/a-object.yaml': widgets.file('first'),
      'apps/maker/z-definition.yaml': widgets.definition(),
      'apps/user/object.yaml': widgets.file('second'),
    },
  });
  const sync = await scene.settles();
  assert.equal(sync.status?.faults, undefined);
  for (const name of ['first', 'second'])
    assert.ok((await scene.get('Widget', name, widgets.apiVersion)) !== undefined, name);
  const plugins = await Promise.all([maker, user].map((name) => scene.plugin(name)));
  assert.deepEqual(
    plugins.map((plugin) => plugin?.status?.history?.length),
    [1, 1],
  );
  const { items } = await scene.client.list({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    namespace: scene.namespace,
  });
  const warnings = items.filter(({ type }) => type === 'Warning');
  assert.deepEqual(warnings, []);
});
