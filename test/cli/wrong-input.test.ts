import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { runCli } from '../../src/cli/run.ts';
import { installKinds } from '../api/install.ts';
import { testClient, testKubeconfig, testNamespace } from '../support/cluster.ts';
import { tempDir } from '../support/tempdir.ts';
import { espalier } from './support/espalier.ts';
import { createPlugin } from './support/objects.ts';

before(() => installKinds(testClient()));

for (const [args, message] of [
  [['gte'], /unknown command 'gte'[\s\S]*Did you mean get\?/],
  [['get', '--all-namspaces'], /unknown option '--all-namspaces'[\s\S]*--all-namespaces/],
  [['get', 'pods'], /there is no kind "pods": say syncs, plugins or all/],
  [['get', '-o', 'table'], /'table' is invalid. Allowed choices are json, yaml, wide, name/],
  [['get', 'plugin', 'web', '-l', 'a=b'], /names or --selector, not both/],
  [['tree', '--depth', 'deep'], /Say a number of levels/],
  [['reconcile'], /missing required argument 'target'/],
  [['reconcile', 'sync/'], /"sync\/" names nothing: say sync\/<name>/],
  [['reconcile', 'sync/a', '--timeout', 'soon'], /"soon" is not a duration: write one such as/],
  [['import', 'flux'], /required option '--out <folder>' not specified/],
  [['import', 'kapp', '--out', 'x'], /'kapp' is invalid[\s\S]*Allowed choices are kubegems, flux, argocd, helm/],
  [['import', 'flux', '--out', 'x', '--checkout', 'apps'], /--checkout apps: write it as <url>=<folder>/],
  [['import', 'flux', '--out', 'package.json'], /--out package.json is a file; name a folder/],
  [['expansion', 'new', ''], /the folder has no name; name a new one/],
  [['approve', 'sync/a', 'sync/b'], /one Sync or Plugin at a time/],
] satisfies [string[], RegExp][]) {
  // In this process, for no cluster is asked.
  test(`espalier "${args.join(' ')}" is wrong usage: 64, and what to say instead`, async (t) => {
    const { mock } = t.mock.method(process.stderr, 'write', () => true);
    const code = await runCli(args);
    const stderr = mock.calls.map((call) => call.arguments[0]).join('');
    mock.restore();
    assert.match(stderr, message);
    assert.equal(code, 64);
  });
}

describe('espalier, where the cluster is the wrong one,', { concurrency: 3 }, () => {
  for (const [args, message] of [
    [['--context', 'nope'], /no context "nope"; it has: /],
    [['--kubeconfig', '/nowhere/at/all'], /can't read the kubeconfig \/nowhere\/at\/all/],
    [['plugins', '-l', 'a in'], /unable to parse requirement/],
  ] satisfies [string[], RegExp][]) {
    test(`"get ${args.join(' ')}" ends with 2 and one line that says why`, async () => {
      const ended = await espalier(['get', ...args]);
      assert.match(ended.stderr, message);
      assert.deepEqual([ended.code, ended.stdout], [2, '']);
      assert.equal(ended.stderr.trimEnd().split('\n').length, 1);
    });
  }

  test('a cluster without our kinds is told how to get them', async (t) => {
    const kubeconfig = await emptyCluster(t);
    for (const args of [['get'], ['tree'], ['get', 'plugins', '-w'], ['suspend', 'sync/a']]) {
      const { code, stderr } = await espalier([...args, '--kubeconfig', kubeconfig]);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, /Espalier is not installed .*kubectl apply --server-side -k manifests/);
    }
  });

  test('a cluster that does not answer is named, with how to choose another', async (t) => {
    const kubeconfig = await kubeconfigFor(t, 'http://127.0.0.1:9');
    const { code, stderr } = await espalier(['get', '--kubeconfig', kubeconfig]);
    assert.equal(code, 2);
    assert.match(stderr, /can't reach the API server at http:\/\/127\.0\.0\.1:9.*--context/);
  });

  test('a reader that leaves early is no error, also while watching', async (t) => {
    const namespace = await testNamespace(t);
    await createPlugin({ namespace, name: 'web' });
    for (const watch of ['', '-w']) {
      const shell = `"${process.execPath}" src/cli.ts get plugins -n ${namespace} ${watch} | true; exit \${PIPESTATUS[0]}`;
      const child = spawn('bash', ['-c', shell], {
        cwd: join(import.meta.dirname, '..', '..'),
        env: { ...process.env, KUBECONFIG: testKubeconfig() },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      t.after(() => child.kill('SIGKILL'));
      let stderr = '';
      child.stderr.on('data', (chunk) => (stderr += chunk));
      const code = await new Promise((resolve) => child.once('close', resolve));
      assert.deepEqual([code, stderr], [0, ''], watch);
    }
  });
});

/** An API server that serves nothing of ours. */
async function emptyCluster(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    const lists: Record<string, object> = {
      '/api': { kind: 'APIVersions', versions: [] },
      '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
    };
    const body = lists[path] ?? {
      kind: 'Status',
      status: 'Failure',
      reason: 'NotFound',
      code: 404,
      message: 'not found',
    };
    response.writeHead(path in lists ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return await kubeconfigFor(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

async function kubeconfigFor(t: TestContext, server: string): Promise<string> {
  const path = join(await tempDir(t), 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}
