import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { API_VERSION, type KubeObject } from '../../src/api/index.ts';
import { extensionYaml, version } from '../catalogue/scene.ts';
import { startForgeScene } from '../forge/scene.ts';
import { configMap } from '../support/agent.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { commitFiles, testGitServer } from '../support/gitserver.ts';
import { uniqueName } from '../support/names.ts';
import { tempDir } from '../support/tempdir.ts';
import { type Ended, espalier } from './support/espalier.ts';
import { createPlugin, createSync } from './support/objects.ts';

const run = promisify(execFile);

const chart = (version: string) => ({ chart: { repository: 'https://charts.example.com', name: 'demo', version } });

function extension(name: string, spec: Record<string, unknown> = {}): string {
  return JSON.stringify({
    apiVersion: API_VERSION,
    kind: 'Extension',
    metadata: { name },
    spec: { versions: [{ app: 'v1.0.0', source: chart('1.0.0') }], ...spec },
  });
}

const CATALOGUE = [
  extension('dns', { class: 'system', displayName: 'Cluster DNS', category: 'Networking' }),
  extension('certs', { class: 'default', category: 'Security' }),
  extension('carrier', {
    description: 'Services for tenants.',
    category: 'Services',
    dependsOn: ['certs'],
    parameters: {
      type: 'object',
      required: ['host'],
      properties: {
        replicas: { type: 'integer', minimum: 1, maximum: 5, default: 1, description: 'How many.' },
        host: { type: 'string' },
        storage: { type: 'object', properties: { class: { enum: ['fast', 'slow'] } } },
      },
    },
    versions: [
      { app: 'v1.0.0', kubernetes: '<1.36', source: chart('1.0.0'), deprecated: 'Broken \u001b[31m.' },
      { app: 'v2.0.0', kubernetes: '>=1.30', source: chart('2.0.0') },
      { app: 'v3.0.0', kubernetes: '>=1.30', source: chart('3.0.0') },
      { app: 'v9.0.0', kubernetes: '>=1.99', source: chart('9.0.0') },
    ],
  }),
].join('\n---\n');

describe('espalier extensions in a folder, without a cluster,', () => {
  test('lists, shows, installs, upgrades and uninstalls; each change is one commit of one file', async (t) => {
    const folder = await checkout(t, {
      'catalogue/all.yaml': CATALOGUE,
      'shop/other.yaml': '# ours\n',
    });
    const at = (...args: string[]): Promise<Ended> =>
      espalier(['extensions', ...args, '--repository', folder, '--kubernetes', '1.36', '-n', 'team']);
    const git = async (...args: string[]): Promise<string> => (await run('git', ['-C', folder, ...args])).stdout.trim();
    const fails = async (code: number, message: RegExp, ...args: string[]): Promise<void> => {
      const ended = await at(...args);
      assert.match(ended.stderr, message);
      assert.equal(ended.code, code, ended.stderr);
    };

    const listed = await at('list');
    assert.deepEqual(
      listed.stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/\s{2,}/)),
      [
        ['NAME', 'CLASS', 'CATEGORY', 'NEWEST', 'INSTALLED'],
        ['carrier', 'accessible', 'Services', 'v3.0.0', '-'],
        ['certs', 'default', 'Security', 'v1.0.0', 'team/certs'],
        ['dns', 'system', 'Networking', 'v1.0.0', 'team/dns'],
      ],
    );
    assert.equal((await at('list', '--class', 'system', '-o', 'name')).stdout, 'extension.espalier.dev/dns\n');
    const [data] = JSON.parse((await at('list', '--category', 'services', '-o', 'json')).stdout);
    assert.deepEqual([data.name, data.newest, data.versions.length], ['carrier', 'v3.0.0', 4]);
    const shown = (await at('show', 'carrier')).stdout;
    assert.match(shown, /replicas +integer +1 +1 to 5 +How many\./);
    assert.match(shown, /storage\.class +any +- +fast \| slow/);
    assert.match(shown, /v1\.0\.0 +<1\.36 +no +- +deprecated: Broken \\u001b\[31m\./);
    assert.match(shown, /needs: certs/);

    await fails(64, /no extension "carier"; did you mean carrier\?/, 'install', 'carier');
    await fails(64, /parameter host is missing/, 'install', 'carrier');
    const set = (...values: string[]): string[] => values.flatMap((value) => ['--set', value]);
    const wrong = set('host=a', 'replicas=9', 'storage.class=none', 'hst=1');
    await fails(
      64,
      /hst is not known; did you mean host\?[\s\S]*replicas is the number 9, expected a whole number from 1 to 5[\s\S]*storage\.class/,
      'install',
      'carrier',
      ...wrong,
    );
    await fails(
      64,
      /version must be auto, a version, or a range/,
      'install',
      'carrier',
      '--version',
      'newest',
      ...set('host=a'),
    );
    await fails(
      2,
      /can't be installed: no version fits Kubernetes 1\.36: v9\.0\.0 is for >=1\.99/,
      'install',
      'carrier',
      '--version',
      '9',
      ...set('host=a'),
    );

    await writeFile(join(folder, 'staged'), 'mine\n');
    await git('add', 'staged');
    const values = join(await tempDir(t), 'values.yaml');
    await writeFile(values, 'host: from-file\nreplicas: 2\n');
    const installed = await at('install', 'carrier', '--version', '~2', '--values', values, ...set('host=12'));
    assert.equal(installed.code, 0, installed.stderr);
    assert.match(installed.stderr, /team\/carrier: v2\.0\.0 is the newest in "~2" that fits Kubernetes 1\.36/);
    assert.match(
      installed.stdout,
      /^wrote extensions\/team\/carrier\.yaml\ncommitted \w{10} to main: Install carrier in team\n$/,
    );
    assert.equal(
      await git('show', '--name-status', '--format=%s %an', 'HEAD'),
      'Install carrier in team Ada\n\nA\textensions/team/carrier.yaml',
    );
    assert.equal(await git('status', '--porcelain'), 'A  staged');
    const file = join(folder, 'extensions/team/carrier.yaml');
    const text = await readFile(file, 'utf8');
    assert.match(
      text,
      /spec:\n {2}extension: carrier\n {2}version: ~2\n {2}parameters:\n {4}host: "12"\n {4}replicas: 2\n$/,
    );
    await fails(
      2,
      /an instance team\/carrier of carrier is there already \(extensions\/team\/carrier\.yaml\)/,
      'install',
      'carrier',
      ...set('host=a'),
    );

    // Beside others of its namespace, wherever those are.
    const own = `# The shop's own.\n${text.replace('name: carrier', 'name: shop')}`;
    await writeFile(join(folder, 'shop/instance.yaml'), own);
    await git('rm', '-q', 'extensions/team/carrier.yaml');
    await git('add', 'shop');
    await git('commit', '-q', '-m', 'moved', '--', 'shop', 'extensions');
    await at('install', 'carrier', '--name', 'second', ...set('host=b'));
    assert.equal(await git('show', '--name-only', '--format=', 'HEAD'), 'shop/second.yaml');

    assert.equal((await at('upgrade', 'shop', '--version', 'v3.0.0')).code, 0);
    assert.equal(
      await readFile(join(folder, 'shop/instance.yaml'), 'utf8'),
      own.replace('version: ~2', 'version: v3.0.0'),
    );
    await fails(2, /no version is "v7"/, 'upgrade', 'shop', '--version', 'v7');
    await fails(2, /nothing waits for team\/shop/, 'upgrade', 'shop');
    await fails(64, /no instance "team\/shp"; did you mean team\/shop\?/, 'upgrade', 'shp', '--version', 'v2.0.0');
    await fails(2, /is there by the class of extension certs/, 'upgrade', 'certs', '--version', '1');

    await fails(
      2,
      /certs can't be uninstalled: it is needed by instance team\/second, instance team\/shop|instance team\/shop, instance team\/second/,
      'uninstall',
      'certs',
    );
    await fails(2, /dns is a system extension/, 'uninstall', 'dns');
    await writeFile(join(folder, 'shop/second.yaml'), '# changed\n', { flag: 'a' });
    await fails(2, /shop\/second\.yaml .*not committed/, 'uninstall', 'second');
    await git('checkout', '-q', 'shop/second.yaml');
    assert.equal((await at('uninstall', 'second', '--message', 'Away')).code, 0);
    assert.equal(await git('show', '--name-status', '--format=%s', 'HEAD'), 'Away\n\nD\tshop/second.yaml');
  });

  test('says what is wrong about its options before it asks anybody', async () => {
    for (const [args, message] of [
      [['install', 'a', '--pull-request'], /--pull-request is about a repository/],
      [['install', 'a', '--branch', 'b'], /--branch is about a repository/],
      [['install', 'a', '--repository', '.', '--pull-request', '--wait'], /--wait: a pull request waits for a person/],
      [['install', 'a', '--dry-run', '--wait'], /--wait has nothing to wait for/],
      [['upgrade', 'a', '--version', '1', '--approve', '2'], /give --version or --approve/],
      [['list', '--ref', 'main'], /--ref is for --repository/],
      [['list', '--repository', '/none', '--kubernetes', '1.36'], /neither a folder nor a Git URL/],
      [['list', '--class', 'nice'], /Allowed choices are default, accessible, custom, system/],
    ] satisfies [string[], RegExp][]) {
      const ended = await espalier(['extensions', ...args]);
      assert.match(ended.stderr, message);
      assert.equal(ended.code, 64, ended.stderr);
    }
  });
});

describe('espalier extensions in a cluster', () => {
  test('plans, makes, moves and removes the object', async (t) => {
    const client = testClient();
    const namespace = await testNamespace(t);
    const server = await testGitServer(t);
    const source = await server.createRepository('demo');
    await commitFiles(source, { 'v1/one.yaml': configMap('one'), 'v2/one.yaml': configMap('one', { a: '2' }) });
    const [name, base] = [uniqueName('demo'), uniqueName('base')];
    const git = (path: string) => ({ git: { url: source.url, path, ref: { branch: 'main' } } });
    const make = async (object: object): Promise<void> => {
      const made = await client.create(object as KubeObject, {});
      t.after(() => client.delete({ apiVersion: API_VERSION, kind: made.kind, name: made.metadata.name }));
    };
    const plugin = { kind: 'manifests' };
    await make(JSON.parse(extension(base, { plugin, versions: [{ app: 'v1', source: git('v1') }] })));
    const versions = [
      { app: 'v1', source: git('v1') },
      { app: 'v2', source: git('v2') },
    ];
    const parameters = { properties: { size: { enum: ['small', 'large'] } } };
    await make(JSON.parse(extension(name, { plugin, versions, parameters })));
    const at = async (code: number, ...args: string[]): Promise<Ended> => {
      const ended = await espalier(['extensions', ...args, '-n', namespace]);
      assert.equal(ended.code, code, ended.stderr);
      return ended;
    };
    const instances = async (): Promise<KubeObject[]> =>
      (await client.list({ apiVersion: API_VERSION, kind: 'ExtensionInstance', namespace })).items;

    assert.match((await at(64, 'install', name, '--set', 'size=huge')).stderr, /parameter size .*small.*large/);
    const planned = await at(0, 'install', name, '--set', 'size=large', '--version', 'v1', '--dry-run');
    assert.match(planned.stdout, new RegExp(`${namespace}/${name}: 1 to create\\n {2}\\+ ConfigMap ${namespace}/one`));
    assert.deepEqual(await instances(), []);
    const made = await at(0, 'install', name, '--set', 'size=large', '--version', 'v1');
    assert.equal(made.stdout, `extensioninstance.espalier.dev/${name} created in ${namespace}\n`);
    const [object] = await instances();
    assert.deepEqual(object?.spec, {
      extension: name,
      version: 'v1',
      parameters: { size: 'large' },
    });
    assert.match((await at(2, 'install', name)).stderr, /is there already; choose another with --name/);

    const moved = await at(0, 'upgrade', name, '--version', 'v2', '--dry-run');
    assert.match(moved.stdout, /ConfigMap .*one/);
    assert.match((await at(0, 'upgrade', name, '--version', 'v2')).stdout, /Upgrade .* to v2/);
    assert.match(JSON.stringify(await instances()), /"version":"v2"/);

    // As the agent leaves it while a version waits for a person.
    const ref = { apiVersion: API_VERSION, kind: 'ExtensionInstance', namespace, name };
    const status = { version: 'v1', next: { version: 'v2', waitsFor: 'somebody approves it' } };
    await client.patch(ref, { status }, { type: 'merge', subresource: 'status' });
    assert.match((await at(0, 'list')).stdout, new RegExp(`${namespace}/${name} v1 \\(v2 waits\\)`));
    assert.match((await at(2, 'upgrade', name, '--approve', 'v3')).stderr, /waits with v2, not with v3/);
    assert.match((await at(0, 'upgrade', name)).stdout, /Approve v2 of/);
    const approved = (await client.get(ref))?.metadata.annotations?.['espalier.dev/approve-version'];
    assert.equal(approved, 'v2');

    await createPlugin({ namespace, name: 'needy', spec: { dependsOn: [{ name }] } });
    const refused = await at(2, 'uninstall', name);
    assert.match(refused.stderr, new RegExp(`it is needed by plugin ${namespace}/needy`));
    await client.delete({ apiVersion: API_VERSION, kind: 'Plugin', namespace, name: 'needy' });
    await createPlugin({
      ...{ namespace, name },
      status: {
        phase: 'Ready',
        inventory: [{ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'one', uid: 'u' }],
      },
    } as Parameters<typeof createPlugin>[0]);
    assert.match(
      (await at(0, 'uninstall', name, '--dry-run')).stdout,
      new RegExp(`would delete[\\s\\S]*- ConfigMap ${namespace}/one`),
    );
    assert.equal((await instances()).length, 1);
    const late = await at(1, 'uninstall', name, '--wait', '--timeout', '1s');
    assert.match(late.stderr, /not gone within 1s/);
    assert.deepEqual(await instances(), []);
  });

  test('leaves to Git what is from there', async (t) => {
    const client = testClient();
    const namespace = await testNamespace(t);
    await createSync({ namespace, name: 'platform' });
    const labels = { 'espalier.dev/sync': 'platform', 'espalier.dev/sync-namespace': namespace };
    const annotations = { 'espalier.dev/origin': 'extensions/web.yaml:1' };
    const spec = { extension: uniqueName('none') };
    const metadata = { name: 'web', namespace, labels, annotations };
    await client.create({ apiVersion: API_VERSION, kind: 'ExtensionInstance', metadata, spec } as KubeObject, {});
    for (const args of [
      ['upgrade', 'web', '--version', '2'],
      ['uninstall', 'web'],
    ]) {
      const ended = await espalier(['extensions', ...args, '-n', namespace]);
      assert.match(ended.stderr, /declared in extensions\/web\.yaml of what sync\/.*platform follows.*--repository/);
      assert.equal(ended.code, 2);
    }
  });
});

test('installed by a pull request: the plan is its comment, the merge installs it, and no branch is ever forced', async (t) => {
  const [base, demo] = [uniqueName('base'), uniqueName('demo')];
  const parameters = { properties: { size: { type: 'integer', minimum: 1, default: 3 } } };
  const from = (path: string) => ({ git: { path, template: true } });
  const templated = (name: string): string => configMap(name, { size: '{{ .size }}' });
  const scene = await startForgeScene(t, {
    files: {
      'catalogue/base.yaml': extensionYaml(base, { class: 'default', versions: [version('v1', 'apps/base')] }),
      'catalogue/demo.yaml': extensionYaml(demo, {
        ...{ dependsOn: [base], parameters },
        versions: [
          { app: 'v1.0.0', source: from('apps/v1') },
          { app: 'v2.0.0', source: from('apps/v2') },
        ],
      }),
      'apps/base/cm.yaml': configMap('base'),
      'apps/v1/cm.yaml': templated('one'),
      'apps/v2/cm.yaml': templated('two'),
    },
  });
  const { repository, namespace, client } = scene;
  const url = `${repository.forge.url}/${repository.name}.git`;
  const at = async (code: number, ...args: string[]): Promise<Ended> => {
    const author = args[0] === 'list' ? [] : ['--author', 'Ada <ada@example.com>'];
    const ended = await espalier(['extensions', ...args, '--repository', url, '-n', namespace, ...author]);
    assert.equal(ended.code, code, ended.stderr);
    return ended;
  };
  const mapOf = async (name: string): Promise<unknown> =>
    (await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name }))?.data;

  assert.match((await at(64, 'install', demo, '--set', 'size=0')).stderr, /parameter size is the number 0/);
  const install = ['install', demo, '--name', 'mine', '--version', '~1', '--pull-request'];
  const dry = await at(0, ...install, '--dry-run');
  assert.match(
    dry.stdout,
    new RegExp(`would write extensions/${namespace}/mine\\.yaml[\\s\\S]*\\+ ConfigMap ${namespace}/one`),
  );
  assert.match((await at(0, ...install)).stdout, /^opened pull request #1: http.*\/pulls\/1\n$/);
  assert.match((await at(0, ...install)).stdout, /^is open already: pull request #1/);
  const more = await at(0, ...install, '--set', 'size=5', '--message', 'Five of them');
  assert.match(more.stdout, /^changed pull request #1/);
  await repository.copy.fetch();
  const branch = `espalier/install-${namespace}-mine`;
  assert.match((await repository.copy.read(branch, `extensions/${namespace}/mine.yaml`)) ?? '', /size: 5/);
  const { head } = await repository.pull(1);
  assert.match(await scene.says(head, 'success', 'espalier/test/plan'), /^1 plugin: 1 to create/);
  const [comment] = await repository.comments(1);
  assert.match(comment?.body ?? '', new RegExp(`ConfigMap ${namespace}/one`));

  await repository.mergePull(1);
  await eventually(async () => assert.deepEqual(await mapOf('one'), { size: '5' }), { timeoutMs: 30_000 });
  assert.match((await at(2, ...install)).stderr, /is there already/);
  assert.match((await at(2, 'uninstall', base)).stderr, new RegExp(`needed by instance ${namespace}/mine`));

  const moved = await at(0, 'upgrade', 'mine', '--version', '~2', '--wait');
  assert.match(moved.stdout, /^pushed \w{10} to main of .*: Upgrade mine to ~2\n.*\/mine is ready\n$/);
  assert.deepEqual(await mapOf('two'), { size: '5' });
  assert.match((await at(0, 'list')).stdout, new RegExp(`${demo} .*${namespace}/mine v2\\.0\\.0`));
  assert.match((await at(0, 'uninstall', 'mine', '--wait')).stdout, /mine is gone\n$/);
  assert.equal(await mapOf('two'), undefined);

  // The branch of the first pull request is still there: the second is told from it.
  assert.match((await at(0, ...install, '--message', 'Once more')).stdout, /^opened pull request #2/);
});

async function checkout(t: Parameters<typeof tempDir>[0], files: Record<string, string>): Promise<string> {
  const folder = await tempDir(t);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const git = (...args: string[]): Promise<unknown> => run('git', ['-C', folder, ...args]);
  await git('init', '-q', '-b', 'main');
  await git('config', 'user.name', 'Ada');
  await git('config', 'user.email', 'ada@example.com');
  await git('add', '.');
  await git('commit', '-q', '-m', 'first');
  return folder;
}
