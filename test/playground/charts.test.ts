import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createAuthority } from '../../src/playground/authority.ts';
import { STAND_INS, serveCharts } from '../../src/playground/charts/places.ts';
import { privateHome } from '../../src/playground/charts/registry.ts';
import { runProgram } from '../../src/tools/run.ts';
import { toolPath } from '../../src/tools/tool.ts';
import {
  CHART_USER,
  chart,
  helmPackage,
  packageChart,
  pushChart,
  startChartServer,
  startTestRegistry,
  subchart,
} from '../support/charts.ts';
import { clone, testGitServer } from '../support/gitserver.ts';
import { tempDir } from '../support/tempdir.ts';

const DEEP = `files/${'folder/'.repeat(18)}end.txt`;
const WEB = chart('web', {
  'values.yaml': 'text: here\n',
  'templates/config.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {text: {{ .Values.text }}, deep: {{ .Files.Get "DEEP" | quote }}}\n'.replace(
      'DEEP',
      DEEP,
    ),
  [DEEP]: 'far down',
  ...subchart('below', { 'templates/sub.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: below}\n' }),
});

test('a chart is always packaged to the same bytes, which Helm reads like those that it packages itself', async (t) => {
  const ours = packageChart(WEB);
  assert.deepEqual(packageChart(WEB).digest, ours.digest);
  const server = await startChartServer(t, { charts: [ours] });
  const fromOurs = await template(t, ['web', 'web', '--repo', server.url]);
  server.add(await helmPackage(t, WEB));
  assert.equal(await template(t, ['web', 'web', '--repo', server.url]), fromOurs);
  assert.match(fromOurs, /text: here, deep: "far down"/);
  assert.match(fromOurs, /name: below/);
});

test('an index keeps its ETag until a chart comes or goes', async (t) => {
  const server = await startChartServer(t, { charts: [packageChart(WEB)] });
  const ask = (etag?: string) =>
    fetch(`${server.url}/index.yaml`, { headers: etag === undefined ? {} : { 'if-none-match': etag } });
  const etag = (await ask()).headers.get('etag') ?? '';
  assert.equal((await ask(etag)).status, 304);
  server.add(packageChart(chart('web', {}, { version: '1.1.0' })));
  assert.equal((await ask(etag)).status, 200);
  server.remove('web', '1.1.0');
  assert.equal((await ask(etag)).status, 304);
  assert.deepEqual(
    server.requests.map(({ path, status }) => `${path} ${status}`),
    ['/index.yaml 200', '/index.yaml 304', '/index.yaml 200', '/index.yaml 304'],
  );
});

test('a repository with a user, over TLS, tells nobody else anything', async (t) => {
  const authority = createAuthority('charts');
  const options = { authority, credential: CHART_USER, charts: [packageChart(WEB)] };
  const server = await startChartServer(t, options);
  const ca = `${await tempDir(t)}/ca.crt`;
  await writeFile(ca, authority.certificate);
  const where = ['web', 'web', '--repo', server.url, '--ca-file', ca];
  await assert.rejects(template(t, where), /401/);
  const login = ['--username', CHART_USER.user, '--password', CHART_USER.password];
  assert.match(await template(t, [...where, ...login]), /text: here/);
});

test('the registry takes a chart by helm push and gives it to whoever may read', async (t) => {
  const open = await startTestRegistry(t);
  const url = await pushChart(open, packageChart(WEB));
  assert.match(await template(t, ['web', url, '--version', '1.0.0', '--plain-http']), /text: here/);
  assert.ok((await open.requests()).includes('GET /v2/charts/web/manifests/1.0.0 200'));

  const closed = await startTestRegistry(t, { auth: true });
  const hidden = await pushChart(closed, packageChart(WEB), 'team/charts');
  assert.equal(hidden, `oci://${closed.host}/team/charts/web`);
  const where = ['web', hidden, '--version', '1.0.0', '--plain-http'];
  await assert.rejects(template(t, where), /401|basic credential/);
  const login = ['--username', CHART_USER.user, '--password', CHART_USER.password];
  assert.match(await template(t, [...where, ...login]), /text: here/);
});

test('the charts of the examples are served in both ways, and the first commit names where', async (t) => {
  const examples = join(import.meta.dirname, '..', '..', 'examples');
  const places = await serveCharts(join(examples, 'charts'), await tempDir(t));
  t.after(() => places.stop());
  assert.deepEqual(places.charts, ['backup-operator 1.4.0', 'session-cache 0.3.1']);
  assert.match(await template(t, ['a', 'backup-operator', '--repo', places.repository]), /kind: Deployment/);
  const oci = [`${places.registry}/session-cache`, '--version', '0.3.1', '--plain-http'];
  assert.match(await template(t, ['b', ...oci]), /kind: StatefulSet/);

  const server = await testGitServer(t);
  const replace = { [STAND_INS.repository]: places.repository, [STAND_INS.registry]: places.registry };
  const { url } = await server.createRepository('platform', { seed: join(examples, 'repo'), replace });
  const work = await clone(t, url);
  const declared = await readFile(join(work, 'plugins', 'backup-operator.yaml'), 'utf8');
  assert.match(declared, new RegExp(`repository: "${places.repository}"`));
  const other = await readFile(join(work, 'plugins', 'session-cache.yaml'), 'utf8');
  assert.match(other, new RegExp(`url: "${places.registry}/session-cache"`));
});

async function template(t: TestContext, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(await toolPath('helm'), {
    args: ['template', ...args],
    env: privateHome(await tempDir(t)),
    timeoutMs: 30_000,
  });
  if (code !== 0) throw new Error(stderr);
  return stdout;
}
