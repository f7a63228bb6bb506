import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  ANNOTATION,
  API_VERSION,
  type Extension,
  type ExtensionInstance,
  type KindName,
  type Plugin,
  readAs,
} from '../api/index.ts';
import { parseTarget } from '../resolve/served-apis.ts';
import { type Catalogue, checkInstances } from './check-instances.ts';

const chart = (version: string) => ({ chart: { repository: 'https://charts.example.com', name: 'demo', version } });
const VERSIONS = [
  { app: 'v1.0.0', kubernetes: '<1.37', source: chart('1.0.0') },
  { app: 'v2.0.0', kubernetes: '>=1.36 <1.38', source: chart('2.0.0') },
];

const object = (kind: KindName, name: string, spec: object, annotations: Record<string, string> = {}) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name, namespace: 'team', annotations },
  spec,
});
const extension = (versions: object[] = VERSIONS): Extension =>
  readAs(object('Extension', 'demo', { versions }), 'Extension');
const instance = (spec: object = {}): ExtensionInstance =>
  readAs(object('ExtensionInstance', 'mine', { extension: 'demo', ...spec }), 'ExtensionInstance');
const installed = (version: string): ReadonlyMap<string, Plugin> => {
  const spec = { kind: 'helm', source: chart('0.1.0') };
  const plugin = object('Plugin', 'mine', spec, { [ANNOTATION.extensionVersion]: version });
  return new Map([['team/mine', readAs(plugin, 'Plugin')]]);
};

function check(target: string, catalogue: Partial<Catalogue>) {
  const to = parseTarget(target);
  assert.ok(to);
  const found = checkInstances({
    ...{
      extensions: [extension()],
      instances: [instance()],
      others: [],
      live: installed('v1.0.0'),
      tags: () => [],
      to,
    },
    ...catalogue,
  }).get('team/mine');
  assert.ok(found);
  const { before, after, findings } = found.item;
  return { ...{ before, after }, codes: findings.map(({ code }) => code), findings, plugin: found.plugin };
}

describe('an instance, once Kubernetes is another one', () => {
  test('moves to the version that fits, and that one is what is rendered', () => {
    const { before, after, codes, plugin } = check('1.37', {});
    assert.deepEqual([before, after, codes], ['v1.0.0', 'v2.0.0', ['Moves']]);
    assert.deepEqual(plugin?.spec.source, chart('2.0.0'));
  });

  test('stays where it fits already', () => {
    assert.deepEqual(check('1.37', { live: installed('v2.0.0') }).codes, ['Stays']);
  });

  test('blocks where no version fits, whether it is installed or not', () => {
    const left = check('1.38', {});
    assert.deepEqual([left.codes, left.plugin], [['NoVersionFits'], undefined]);
    assert.match(left.findings[0]?.message ?? '', /^v1\.0\.0 stays: no version fits Kubernetes v1\.38\.0/);
    assert.deepEqual(check('1.38', { live: new Map() }).codes, ['NoVersionFits']);
    assert.deepEqual(check('1.37', { instances: [instance({ version: 'v1.0.0' })] }).codes, ['NoVersionFits']);
  });

  test('that waits for an approval is a warning where the installed version does not fit, and fine where it does', () => {
    const instances = [instance({ upgrade: { approval: 'required' } })];
    const held = check('1.37', { instances });
    assert.deepEqual([held.codes, held.after], [['Waits'], 'v2.0.0']);
    assert.match(held.findings[0]?.message ?? '', /^v2\.0\.0 fits, and waits until .*approve.*v1\.0\.0 does not fit$/);
    assert.deepEqual(held.plugin?.spec.source, chart('2.0.0'), 'what is to be approved is what is rendered');
    assert.deepEqual(check('1.36', { instances }).codes, ['Stays']);
  });

  test('that moves in a window only says so, open or not', () => {
    const upgrade = { window: { cron: '0 3 * * *', for: '2h' } };
    const { codes, findings } = check('1.37', { instances: [instance({ upgrade })] });
    assert.deepEqual(codes, ['Moves', 'Waits']);
    assert.match(findings[1]?.message ?? '', /waits for its window \(0 3 \* \* \* for 2h\)/);
  });

  test('says that the version is deprecated, and what the catalogue says of it', () => {
    const versions = [{ ...VERSIONS[1], deprecated: 'Use other.' }];
    const { codes, findings } = check('1.37', { extensions: [extension(versions)], live: installed('v2.0.0') });
    assert.deepEqual(codes, ['Stays', 'VersionDeprecated']);
    assert.match(findings[1]?.message ?? '', /v2\.0\.0 is deprecated: Use other\./);
  });

  test('with wrong parameters, or of no extension, blocks', () => {
    assert.deepEqual(check('1.37', { extensions: [], live: new Map() }).codes, ['Refused']);
    assert.deepEqual(check('1.37', { extensions: [] }).codes, ['NoVersionFits']);
  });
});
