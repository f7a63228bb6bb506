import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Platform, startPlatform, yaml } from '../cases/support/platform.ts';
import { runHelm } from '../support/helm.ts';

const CHART = {
  'charts/web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: "7"\n',
  'charts/web/values.yaml': 'greeting: hello\n',
  'charts/web/templates/NOTES.txt': 'Say {{ .Values.greeting }}.\n',
  'charts/web/templates/cm.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-cm}
data:
  greeting: {{ .Values.greeting | quote }}
  revision: {{ .Release.Revision | quote }}
  upgrade: {{ .Release.IsUpgrade | quote }}
  random: {{ randAlphaNum 8 | quote }}
`,
};
const plugin = (values: object, spec: object = {}) =>
  yaml({
    apiVersion: 'espalier.dev/v1alpha1',
    kind: 'Plugin',
    metadata: { name: 'web' },
    spec: { kind: 'helm', source: { git: { path: 'charts/web' } }, values, ...spec },
  });

async function start(t: TestContext, files: Record<string, string> = {}, spec: object = {}): Promise<Platform> {
  return await startPlatform(t, {
    files: { ...CHART, 'plugins/web.yaml': plugin({ greeting: 'hi' }, spec), ...files },
  });
}

const dataOf = async (platform: Platform, name = 'web-cm') =>
  (await platform.get('ConfigMap', name))?.data as Record<string, string> | undefined;

test('a chart becomes a release that helm itself lists, explains, rolls back and upgrades', async (t) => {
  const platform = await start(t);
  await platform.settles();
  const helm = (...args: string[]) => runHelm(t, [...args, '--namespace', platform.namespace]);
  const first = await dataOf(platform);
  assert.deepEqual({ ...first, random: '' }, { greeting: 'hi', revision: '1', upgrade: 'false', random: '' });
  const [listed] = JSON.parse(await helm('list', '--output', 'json')) as Record<string, string>[];
  assert.deepEqual(
    [listed?.name, listed?.revision, listed?.status, listed?.chart, listed?.app_version],
    ['web', '1', 'deployed', 'web-1.2.3', '7'],
  );
  assert.deepEqual(JSON.parse(await helm('get', 'values', 'web', '--output', 'json')), { greeting: 'hi' });
  assert.match(await helm('get', 'notes', 'web'), /Say hi\./);
  assert.match(await helm('get', 'manifest', 'web'), new RegExp(`random: ${first?.random}`));

  await platform.push({ 'plugins/web.yaml': plugin({ greeting: 'bye' }) });
  await platform.settles();
  const second = await dataOf(platform);
  assert.deepEqual({ ...second, random: '' }, { greeting: 'bye', revision: '2', upgrade: 'true', random: '' });
  const history = JSON.parse(await helm('history', 'web', '--output', 'json')) as Record<string, string>[];
  assert.deepEqual(
    history.map(({ revision, status, description }) => [revision, status, description]),
    [
      [1, 'superseded', 'Install complete'],
      [2, 'deployed', 'Upgrade complete'],
    ],
  );

  await platform.restart();
  platform.look();
  await platform.settles();
  assert.deepEqual(await dataOf(platform), second, 'random values stay, and so does the revision');
  assert.equal((JSON.parse(await helm('history', 'web', '--output', 'json')) as unknown[]).length, 2);

  await platform.push({ 'plugins/web.yaml': plugin({}, { enabled: false }) });
  await platform.isGone('ConfigMap', 'web-cm');
  await platform.settles();
  assert.deepEqual(JSON.parse(await helm('list', '--output', 'json')), []);
});
