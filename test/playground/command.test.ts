import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { API_VERSION } from '../../src/api/index.ts';
import { createClient } from '../../src/cluster/client.ts';
import type { AgentFactory } from '../../src/playground/agentseam.ts';
import { git } from '../../src/playground/git.ts';
import { startPlayground } from '../../src/playground/playground.ts';
import { startOf } from '../../src/tools/owner.ts';
import { testClient, testKubeconfig } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { clone } from '../support/gitserver.ts';
import { tempDir } from '../support/tempdir.ts';

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli.ts');

const SYNC = { apiVersion: API_VERSION, kind: 'Sync', namespace: 'espalier-system', name: 'platform' };

interface Ready {
  kubeconfig: string;
  git: { url: string; user: string; password: string };
  forge: null;
  http: string | null;
  logs: string;
  pid: number;
}

test('playground --json prints one line when it is ready, serves what it names, and SIGTERM leaves nothing', async (t) => {
  const seed = await tempDir(t);
  await writeFile(join(seed, 'web.yaml'), 'kind: Plugin\n');
  const { child, output, ended } = run(t, ['--json', '--no-agent', '--repo', seed]);
  await eventually(() => assert.match(output.stdout, /\n/, output.stderr), { timeoutMs: 60_000 });
  const ready: Ready = JSON.parse(output.stdout);
  assert.deepEqual(Object.keys(ready), ['kubeconfig', 'git', 'forge', 'http', 'logs', 'pid']);
  assert.equal(ready.pid, child.pid);
  assert.equal(ready.http, null);
  assert.match(output.stderr, /starting the API server \(\d/);

  const client = createClient({ kubeconfig: ready.kubeconfig });
  t.after(() => client.close());
  assert.ok(await client.get(SYNC));
  const { url, user, password } = ready.git;
  const work = await clone(t, url.replace('://', `://${user}:${password}@`));
  assert.equal(await readFile(join(work, 'web.yaml'), 'utf8'), 'kind: Plugin\n');
  await assert.rejects(clone(t, url), /Username|Authentication/);
  assert.ok((await readdir(ready.logs)).includes('kube-apiserver.log'));

  child.kill('SIGTERM');
  assert.equal(await ended, 0);
  assert.equal(output.stdout.trimEnd().split('\n').length, 1);
  assert.ok(!existsSync(ready.kubeconfig));
  assert.deepEqual(await childrenOf(child.pid), []);
});

test('Ctrl-C while it starts ends it with everything started so far', async (t) => {
  const { child, output, ended } = run(t, ['--no-agent', '--repo', await tempDir(t)]);
  await eventually(() => assert.match(output.stderr, /starting etcd/), { timeoutMs: 30_000 });
  child.kill('SIGINT');
  assert.equal(await ended, 130);
  assert.equal(output.stdout, '');
});

test('a second Ctrl-C exits at once, and the servers end all the same', async (t) => {
  const { child, output, ended } = run(t, ['--no-agent', '--repo', await tempDir(t)]);
  await eventually(() => assert.match(output.stderr, /starting etcd/), { timeoutMs: 30_000 });
  const servers = await eventually(async () => {
    const pids = await childrenOf(child.pid);
    assert.ok(pids.length >= 2);
    return pids;
  });
  child.kill('SIGINT');
  child.kill('SIGINT');
  await ended;
  await eventually(() =>
    assert.deepEqual(
      servers.filter((pid) => startOf(pid) !== undefined),
      [],
    ),
  );
});

test('--use-cluster uses the cluster of the kubeconfig and starts none', async (t) => {
  const args = ['--json', '--no-agent', '--use-cluster', '--kubeconfig', testKubeconfig(), '--repo', await tempDir(t)];
  const { child, output, ended } = run(t, args);
  await eventually(() => assert.match(output.stdout, /\n/, output.stderr), { timeoutMs: 30_000 });
  const ready: Ready = JSON.parse(output.stdout);
  assert.equal(ready.kubeconfig, testKubeconfig());
  assert.doesNotMatch(output.stderr, /etcd/);
  assert.equal(await testClient().delete(SYNC), 'deleted');
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
  assert.ok(existsSync(testKubeconfig()));
});

test('--forge gitea names the forge, which serves the repository and goes with the playground', async (t) => {
  const seed = await tempDir(t);
  await writeFile(join(seed, 'web.yaml'), 'kind: Plugin\n');
  const cluster = ['--use-cluster', '--kubeconfig', testKubeconfig()];
  const { child, output, ended } = run(t, ['--json', '--no-agent', '--forge', 'gitea', ...cluster, '--repo', seed]);
  await eventually(() => assert.match(output.stdout, /\n/, output.stderr), { timeoutMs: 30_000 });
  const { git: served, forge } = JSON.parse(output.stdout);
  assert.deepEqual(Object.keys(forge), ['kind', 'url', 'page', 'user', 'password']);
  assert.equal(served.url, `${forge.page}.git`);
  const work = await clone(t, served.url.replace('://', `://${forge.user}:${forge.password}@`));
  assert.equal(await readFile(join(work, 'web.yaml'), 'utf8'), 'kind: Plugin\n');
  assert.equal(await testClient().delete(SYNC), 'deleted');
  child.kill('SIGTERM');
  assert.equal(await ended, 0);
  await assert.rejects(fetch(forge.url));
  assert.deepEqual(await childrenOf(child.pid), []);
});

test('an agent is told where to work, is woken by a push, and is stopped first', async (t) => {
  const seen: string[] = [];
  let looks = 0;
  const agent: AgentFactory = async (context) => {
    assert.equal(context.kubeconfig, testKubeconfig());
    assert.ok(existsSync(context.logs));
    return {
      http: 'http://127.0.0.1:1',
      lookNow: () => looks++,
      broken: new Promise(() => {}),
      stop: async () =>
        void seen.push((await fetch(playground.git.url)).status === 404 ? 'Git still there' : 'Git gone'),
    };
  };
  const cluster = { kubeconfig: testKubeconfig() };
  const playground = await startPlayground({ seed: await tempDir(t), cluster, agent });
  t.after(() => playground.stop());
  assert.equal(playground.http, 'http://127.0.0.1:1');
  const { url, user, password } = playground.git;
  const work = await clone(t, url.replace('://', `://${user}:${password}@`));
  await git(work, ['commit', '--quiet', '--allow-empty', '-m', 'change']);
  await git(work, ['push', '--quiet', 'origin', 'HEAD']);
  await eventually(() => assert.equal(looks, 1));

  await playground.stop();
  assert.deepEqual(seen, ['Git still there']);
  assert.equal(await testClient().delete(SYNC), 'deleted');
});

for (const [args, message] of [
  [['--forge', 'svn'], /--forge svn is not supported.*gitea/],
  [['--use-cluster'], /give --kubeconfig or set KUBECONFIG/],
  [['--kubeconfig', '/tmp/some'], /need --use-cluster/],
  [['--repo', '/nowhere/at/all'], /no folder \/nowhere\/at\/all/],
] satisfies [string[], RegExp][]) {
  test(`playground ${args.join(' ')} is refused with what to do`, async (t) => {
    const { output, ended } = run(t, args);
    assert.equal(await ended, 64);
    assert.match(output.stderr, message);
    assert.equal(output.stdout, '');
  });
}

test('with neither programs, network nor Go it says what is missing and what to do', async (t) => {
  const empty = await tempDir(t);
  await mkdir(join(empty, 'bin'));
  const closed = 'http://127.0.0.1:9';
  const env = { PATH: join(empty, 'bin'), HOME: empty, HTTPS_PROXY: closed, HTTP_PROXY: closed };
  const { output, ended } = run(t, ['--no-agent', '--repo', empty], env);
  assert.equal(await ended, 2);
  for (const name of ['git', 'etcd', 'kube-apiserver', 'kwok'])
    assert.match(output.stderr, new RegExp(`^(espalier: )?${name} `, 'm'));
  assert.match(output.stderr, /Any one of these helps/);
});

function run(t: TestContext, args: string[], env?: Record<string, string>) {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [CLI, 'playground', ...args], {
    env: env ?? withoutKubeconfig(),
  });
  t.after(() => child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output, ended };
}

function withoutKubeconfig(): NodeJS.ProcessEnv {
  const { KUBECONFIG: _, ...rest } = process.env;
  return rest;
}

/** Living processes started by another one, which need not live itself. */
async function childrenOf(parent: number | undefined): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      return line.slice(line.lastIndexOf(')') + 2).split(' ')[1] === String(parent) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}
