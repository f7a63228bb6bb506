import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { createClient } from '../../src/cluster/client.ts';
import { startControlPlane } from '../../src/playground/controlplane.ts';
import { createPrivateFolder, sweepFolders } from '../../src/playground/folder.ts';
import { ask } from '../../src/playground/request.ts';
import { startOf } from '../../src/tools/owner.ts';
import { eventually } from '../support/eventually.ts';
import { ownControlPlane } from '../support/plane.ts';
import { tempDir } from '../support/tempdir.ts';

test('one control plane', async (t) => {
  const plane = await ownControlPlane(t, { users: [{ name: 'ada', groups: ['readers'] }], nodes: 1 });
  const client = createClient({ kubeconfig: plane.kubeconfigPath });
  t.after(() => client.close());

  await t.test('keeps its data and its controllers over a restart of the API server', async () => {
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept', namespace: 'default' } });
    const before = plane.pids();
    assert.equal(before.length, 5);
    await plane.restartApiServer({ graceMs: 0 });
    assert.equal(plane.pids().filter((pid) => before.includes(pid)).length, 4);
    assert.ok(await client.get({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'kept' }));

    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'later' } });
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: 'later', name: 'default' };
    await eventually(async () => assert.ok(await client.get(account)), { timeoutMs: 30_000 });
  });

  await t.test('knows the users that it was started with, and gives them no rights', async () => {
    const certificate = Buffer.from(plane.caData, 'base64').toString();
    const statusFor = async (token: string) =>
      (await ask({ url: plane.url, certificate, token }, '/api/v1/nodes'))?.status;
    assert.equal(await statusFor(plane.tokenOf('ada') ?? ''), 403);
    assert.equal(await statusFor('nobody'), 401);
    assert.equal(await statusFor(plane.token), 200);
  });

  await t.test('names a server that ends by itself', async () => {
    const [etcd] = plane.pids();
    assert.ok(etcd);
    process.kill(etcd, 'SIGKILL');
    assert.equal(await plane.broken, 'etcd');
  });

  await t.test('leaves nothing when it is stopped, also twice', async () => {
    const pids = plane.pids();
    await plane.stop();
    await plane.stop();
    assert.ok(!existsSync(plane.dir));
    assert.deepEqual(pids.filter(isAlive), []);
  });
});

test('a start that is given up ends what it started and removes its folder', async (t) => {
  const root = await tempDir(t);
  const giveUp = new AbortController();
  const progress = (message: string) => message.includes('API server') && setTimeout(() => giveUp.abort(), 200);
  await assert.rejects(startControlPlane({ root, signal: giveUp.signal, progress }), { code: 'Aborted' });
  assert.deepEqual(await readdir(root), []);
});

const onlyLinux = process.platform === 'linux' ? {} : { skip: 'reads /proc' };

test(
  'after SIGKILL of its process no server or Git child is left, and the next start removes the folder',
  onlyLinux,
  async (t) => {
    const root = await tempDir(t);
    const holder = spawn(process.execPath, [join(import.meta.dirname, 'hold.ts'), root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => holder.kill('SIGKILL'));
    const held: { dir: string; pids: number[]; url: string } = await new Promise((resolve) => {
      createInterface(holder.stdout).once('line', (line) => resolve(JSON.parse(line)));
    });
    const push = request(`${held.url}/git-receive-pack`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-git-receive-pack-request', 'content-length': '1000' },
    });
    push.on('error', () => {});
    push.write('0'); // the Git child waits for the rest
    const gitChildren = await eventually(() => {
      const pids = processesIn(join(root, 'git'));
      assert.ok(pids.length > 0);
      return pids;
    });
    assert.equal(held.pids.filter(isAlive).length, 5);

    holder.kill('SIGKILL');
    await eventually(() => assert.deepEqual([...held.pids, ...gitChildren].filter(isAlive), []));
    assert.ok(existsSync(held.dir));
    assert.deepEqual(await sweepFolders(root), [held.dir]);
    assert.ok(!existsSync(held.dir));
  },
);

test('a sweep leaves folders of living owners, fresh ones without an owner, and everything that is no playground', async (t) => {
  const root = await tempDir(t);
  const own = await createPrivateFolder(root);
  const [fresh, old, other] = ['playground-fresh', 'playground-old', 'something'].map((name) => join(root, name));
  for (const folder of [fresh, old, other]) await mkdir(folder ?? '');
  await writeFile(join(old ?? '', 'owner.json'), 'half a rec');
  const anHourAgo = new Date(Date.now() - 3_600_000);
  for (const folder of [own, old, other]) await utimes(folder ?? '', anHourAgo, anHourAgo);

  assert.deepEqual(await sweepFolders(root), [old]);
  assert.deepEqual((await readdir(root)).length, 3);
});

test('a folder whose path is too long for sockets is refused with what to do', async (t) => {
  const root = join(await tempDir(t), 'x'.repeat(100));
  await assert.rejects(createPrivateFolder(root), /too long.*ESPALIER_CACHE_DIR/);
  assert.deepEqual(await readdir(root), []);
});

function isAlive(pid: number): boolean {
  return startOf(pid) !== undefined;
}

/** Processes that work in a folder, where the system tells. */
function processesIn(folder: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}
