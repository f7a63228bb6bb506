import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type GitRepository, openRepository } from '../../src/git/repository.ts';
import { serve } from './support/gitserver.ts';
import { ALLOWED, BACKENDS, openAt, pathsOf, readText } from './support/open.ts';
import { feed, type Origin } from './support/origin.ts';
import { servedOrigins } from './support/served.ts';

const run = promisify(execFile);

const served = servedOrigins();
const { fresh } = served;

/** Many commits at once; each changes one of a few files. Oldest first. */
async function manyCommits(origin: Origin, count: number): Promise<string[]> {
  const filler = Array.from({ length: 200 }, (_, i) => `value${i}: ${Math.cos(i)}`).join('\n');
  const parts: string[] = ['feature done\n'];
  for (let i = 0; i < count; i += 1) {
    const text = `n: ${i}\n${filler}\n`;
    parts.push(`commit refs/heads/main\ncommitter A <a@example.com> ${1_700_000_000 + i} +0000\ndata 1\nc\n`);
    parts.push(`M 100644 inline d${i % 5}/f.yaml\ndata ${text.length}\n${text}\n`);
  }
  await feed('git', ['-C', origin.dir, 'fast-import', '--quiet'], Buffer.from(`${parts.join('')}done\n`));
  return (await origin.git('rev-list', '--reverse', 'main')).split('\n');
}

async function storedBytes(dir: string): Promise<{ files: number; bytes: number }> {
  let bytes = 0;
  let files = 0;
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // Tidying up goes on meanwhile.
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    if (found === undefined) continue;
    files += 1;
    bytes += found.size;
  }
  return { files, bytes };
}

for (const [how, pushes, options] of [
  ['the program git tidies up', 60, { backend: 'builtin' }],
  ['there is no program git', 25, { backend: 'builtin', gitPath: null }],
  ['the program git does it all', 25, { backend: 'system' }],
] as const) {
  test(`stays small over ${pushes} pushes where ${how}`, async (t) => {
    const { origin, name } = await fresh();
    const commits = await manyCommits(origin, pushes);
    const warnings: unknown[] = [];
    const repository = await openAt(t, served.folder, served.server, name, {
      ...options,
      limits: { packs: 10, depth: 5 },
      onWarning: (error) => warnings.push(error),
    });
    let most = { files: 0, bytes: 0 };
    for (const [i, commit] of commits.entries()) {
      await writeFile(join(origin.dir, 'refs/heads/main'), `${commit}\n`);
      await repository.fetch(commit, 'refs/heads/main');
      if (i > 0) assert.equal(await repository.isAncestor(commits[i - 1] ?? '', commit), 'yes');
      if (i % 7 !== 0) continue;
      const now = await storedBytes(repository.dir);
      most = { files: Math.max(most.files, now.files), bytes: Math.max(most.bytes, now.bytes) };
    }
    const last = commits.at(-1) ?? '';
    assert.match(
      (await readText(repository, last, `d${(pushes - 1) % 5}/f.yaml`)) ?? '',
      new RegExp(`^n: ${pushes - 1}\n`),
    );
    assert.ok(most.files < 60, `${most.files} files`);
    assert.ok(most.bytes < 150_000, `${most.bytes} bytes`);
    assert.deepEqual(warnings, []);
    await run('git', ['-C', repository.dir, 'fsck', '--full', '--strict', '--no-dangling']);
  });
}

test('is tidied up after a fetch, and who fetched does not wait for it', async (t) => {
  const { origin, name } = await fresh();
  const commits = await manyCommits(origin, 8);
  const limits = { packs: 5 };
  const fetched = async (repository: GitRepository, some: readonly string[]): Promise<void> => {
    for (const commit of some) {
      await writeFile(join(origin.dir, 'refs/heads/main'), `${commit}\n`);
      await repository.fetch(commit, 'refs/heads/main');
    }
  };
  const first = await openAt(t, served.folder, served.server, name, { limits, tidyAfterMs: 3_600_000 });
  await fetched(first, commits.slice(0, 7));
  assert.equal(await packsIn(first.dir), 7);
  await first.close();
  const { dir } = first;
  const second = await openAt(t, served.folder, served.server, name, { limits, dir, tidyAfterMs: 1 });
  await fetched(second, commits.slice(7));
  await until(async () => (await packsIn(dir)) === 1);
  assert.notEqual(await readText(second, commits[7] ?? '', 'd2/f.yaml'), undefined);
});

async function packsIn(dir: string): Promise<number> {
  const files = await readdir(join(dir, 'objects', 'pack'));
  return files.filter((file) => file.endsWith('.pack')).length;
}

describe('a store that was left in the middle of something', () => {
  for (const backend of BACKENDS) {
    test(`is usable after SIGKILL in mid-fetch, with nothing left over (${backend})`, async (t) => {
      const { origin, name } = await fresh();
      const noise = randomBytes(400_000);
      const commit = await origin.commit({ noise, a: 'one' });
      let slow = true;
      // The pack trickles, so that there is a middle.
      served.server.intercept = (request, response) => {
        if (!slow || request.method !== 'POST' || !request.url?.startsWith(`/${name}`)) return false;
        const write = response.write.bind(response);
        let sent = 0;
        response.write = (chunk: Buffer): boolean => {
          if (sent > 150_000) return true;
          sent += chunk.length;
          return write(chunk);
        };
        Object.assign(response, { end: () => undefined });
        serve(request, response, { root: served.folder });
        return true;
      };
      t.after(() => {
        served.server.intercept = undefined;
      });
      const dir = join(served.folder, `killed-${randomUUID()}`);
      const script = fileURLToPath(new URL('support/fetcher.ts', import.meta.url));
      const child = spawn(process.execPath, [script, `${served.server.url}/${name}`, dir, commit, backend], {
        stdio: 'inherit',
      });
      await until(async () => (await temporaryFiles(dir)).length > 0 && (await storedBytes(dir)).bytes > 50_000);
      child.kill('SIGKILL');
      await once(child, 'exit');
      slow = false;
      const repository = await openAt(t, served.folder, served.server, name, { backend, dir });
      assert.deepEqual(await temporaryFiles(dir), []);
      await repository.fetch(commit);
      assert.equal(await readText(repository, commit, 'a'), 'one');
      await run('git', ['-C', dir, 'fsck', '--full']);
    });
  }

  test('is fetched anew when a pack on disk is damaged, and says so until then', async (t) => {
    const { origin, name } = await fresh();
    const commits = await manyCommits(origin, 3);
    const [commit = ''] = commits.slice(-1);
    const before = await openAt(t, served.folder, served.server, name);
    await before.fetch(commit);
    await before.close();
    const { dir } = before;
    const packs = join(dir, 'objects', 'pack');
    const pack = join(packs, (await readdir(packs)).find((file) => file.endsWith('.pack')) ?? '');
    const bytes = await readFile(pack);
    await writeFile(pack, bytes.fill(0xff, 200, bytes.length - 200));
    const repository = await openAt(t, served.folder, served.server, name, { dir });
    const tree = repository.tree(commit);
    await assert.rejects(
      Array.fromAsync(tree.walk(''), (entry) => (entry.type === 'file' ? tree.read(entry.path) : undefined)),
      { code: 'GitStoreDamaged' },
    );
    await repository.fetch(commit);
    assert.equal((await pathsOf(repository, commit)).length, 6);
    assert.match((await readText(repository, commit, 'd2/f.yaml')) ?? '', /^n: 2\n/);
  });
});

test('writes packs and indexes that are byte for byte those of git', async (t) => {
  const { origin, name } = await fresh();
  const commits = await manyCommits(origin, 60);
  await origin.git('repack', '-adfq', '--depth=50', '--window=50');
  const repository = await openAt(t, served.folder, served.server, name, {
    backend: 'builtin',
    limits: { depth: 1000 },
  });
  await repository.fetch(commits.at(-1) ?? '');
  const packs = join(repository.dir, 'objects', 'pack');
  const files = await readdir(packs);
  assert.equal(files.length, 2);
  const pack = join(packs, files.find((file) => file.endsWith('.pack')) ?? '');
  const ours = await readFile(pack.replace('.pack', '.idx'));
  const theirs = join(served.folder, 'theirs.idx');
  await run('git', ['index-pack', '-o', theirs, pack]);
  assert.deepEqual(ours, await readFile(theirs));
  const { stdout } = await run('git', ['verify-pack', '-v', pack]);
  assert.match(stdout, /chain length = 1/);
});

test('goes on reading while the store is rebuilt under it, from two sides', async (t) => {
  const { origin, name } = await fresh();
  const commits = await manyCommits(origin, 12);
  const repository = await openAt(t, served.folder, served.server, name);
  for (const commit of commits) await repository.fetch(commit);
  const last = commits.at(-1) ?? '';
  const tree = repository.tree(last);
  let reading = true;
  const reader = (async () => {
    let reads = 0;
    for (; reading; reads += 1) {
      assert.match(Buffer.from((await tree.read(`d${reads % 5}/f.yaml`)) ?? []).toString(), /^n: \d+\n/);
      // A read that is answered from memory lets nobody else have a turn.
      await wait(1);
    }
    return reads;
  })();
  const other = await openRepository({ url: `${served.server.url}/${name}`, dir: repository.dir, allow: ALLOWED });
  t.after(() => other.close());
  const results = await Promise.all([repository.maintain({ force: true }), other.maintain({ force: true })]);
  assert.deepEqual(
    results.map(({ done, packs }) => ({ done, packs })),
    Array(2).fill({ done: 'repacked', packs: 1 }),
  );
  reading = false;
  assert.ok((await reader) > 0);
});

test('R6: polls at rest take no memory with them and write nothing', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const { origin, name } = await fresh();
  const commit = await origin.commit({ a: '1' });
  const repository = await openAt(t, served.folder, served.server, name);
  const cycle = async (): Promise<void> => {
    const { commit: now, ref } = await repository.resolve({ branch: 'main' });
    await repository.fetch(now, ref);
    assert.equal(now, commit);
  };
  for (let i = 0; i < 30; i += 1) await cycle();
  served.server.requests.length = 0;
  collect();
  const before = process.memoryUsage().heapUsed;
  const stored = await stat(join(repository.dir, 'objects', 'pack'));
  const started = performance.now();
  const polls = 100;
  for (let i = 0; i < polls; i += 1) await cycle();
  const each = (performance.now() - started) / polls;
  assert.equal(served.server.requests.length, polls);
  served.server.requests.length = 0;
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  t.diagnostic(`an idle poll took ${each.toFixed(1)} ms; the heap grew by ${grown} bytes over ${polls}`);
  assert.ok(grown < 500_000, `${grown} bytes`);
  assert.equal((await stat(join(repository.dir, 'objects', 'pack'))).mtimeMs, stored.mtimeMs);
});

async function temporaryFiles(dir: string): Promise<string[]> {
  const all = await readdir(dir, { recursive: true }).catch(() => []);
  return all.filter((path) => /(^|\/)tmp_|\.lock$/.test(path));
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1200; tries += 1) {
    if (await condition()) return;
    await wait(25);
  }
  throw new Error('It did not come to that.');
}
