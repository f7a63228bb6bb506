import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ADA, type Registry, startRegistry } from '../charts/support/registry.ts';
import { espalier, espalierProcess, startEspalier } from '../cli/support/espalier.ts';
import { pluginYaml } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { tempDir } from '../support/tempdir.ts';
import { type Front, startFront, writes } from './support/front.ts';
import { digestAt, pushImage, pushIndex } from './support/images.ts';
import { runs, syncYaml, writeFiles } from './support/platform.ts';

let folder: string;
let source: Registry;
let target: Registry;
const OFFLINE = ['--offline'];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'espalier-test-'));
  [source, target] = await Promise.all([startRegistry(folder), startRegistry(folder)]);
});

after(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const mirror = (folder: string, ...args: string[]) => espalier(['images', 'mirror', folder, ...OFFLINE, ...args]);
/** Where an image of the source goes that no rule leads elsewhere. */
const kept = (name: string) => `all/${source.host.replace(':', '-')}/${name}`;

describe('espalier images mirror', { concurrency: 2 }, () => {
  test('copies to where the rules lead, the rest below --to with the rules that it needs, indexes whole, and nothing twice', async (t) => {
    const one = await pushImage(source.host, 'team/app:1', 'app');
    const many = await pushIndex(source.host, 'other/multi:2', 'multi');
    const pinned = await pushImage(source.host, 'team/pinned', 'pinned');
    const folder = await writeFiles(await tempDir(t), {
      ...runs('web', one.image, many.image),
      ...runs('api', one.image, `${pinned.image}@${pinned.digest}`),
      'sync.yaml': syncYaml({ images: { rewrite: [{ from: `${source.host}/team`, to: `${target.host}/ours` }] } }),
    });
    const args = ['--settings', join(folder, 'sync.yaml'), '--to', `${target.host}/all`];
    // What is to be read as declarations is beside the file with the settings.
    const dry = await mirror(folder, ...args, '--path', '.', '--dry-run');
    assert.deepEqual([dry.code, dry.stdout.split('\n').length, /3 missing/.test(dry.stderr)], [1, 4, true], dry.stderr);
    const first = await mirror(folder, ...args);
    assert.equal(first.code, 0, first.stderr);
    assert.match(
      first.stderr,
      new RegExp(`- \\{from: ${source.host}, to: ${target.host}/all/${source.host.replace(':', '-')}\\}`),
    );
    assert.equal(await digestAt(target.host, 'ours/app', '1'), one.digest);
    assert.equal(await digestAt(target.host, 'ours/pinned', pinned.digest), pinned.digest);
    assert.equal(await digestAt(target.host, 'ours/pinned', pinned.digest.replace(':', '-')), pinned.digest);
    assert.equal(await digestAt(target.host, kept('other/multi'), '2'), many.digest);
    for (const child of many.children) assert.equal(await digestAt(target.host, kept('other/multi'), child), child);
    const again = await mirror(folder, ...args, '-o', 'json');
    const document = JSON.parse(again.stdout) as { version: string; results: { state: string }[] };
    assert.deepEqual(
      [again.code, document.version, document.results.map(({ state }) => state)],
      [0, 'espalier.dev/mirror/v1', ['there', 'there', 'there']],
    );
  });

  test('--platform takes one image out of an index, but leaves whole what is pinned', async (t) => {
    const free = await pushIndex(source.host, 'arch/free:1', 'free');
    const pinned = await pushIndex(source.host, 'arch/pinned:1', 'pinned index');
    const folder = await writeFiles(await tempDir(t), runs('web', free.image, `${pinned.image}@${pinned.digest}`));
    const args = ['--to', `${target.host}/all`];
    assert.equal((await mirror(folder, ...args, '--platform', 'linux/arm64')).code, 0);
    assert.equal(await digestAt(target.host, kept('arch/free'), '1'), free.children[1]);
    assert.equal(await digestAt(target.host, kept('arch/pinned'), pinned.digest), pinned.digest);
    const none = await mirror(folder, ...args, '--platform', 'linux/s390x');
    assert.equal(none.code, 1);
    assert.match(none.stderr, /is not there for linux\/s390x; there are: linux\/amd64, linux\/arm64/);
  });

  test('one that fails is named with what to do, and the others are copied', async (t) => {
    const good = await pushImage(source.host, 'some/good:1', 'good');
    const folder = await writeFiles(
      await tempDir(t),
      runs('web', `${source.host}/some/none:1`, good.image, 'Not/An image'),
    );
    const { code, stdout, stderr } = await mirror(folder, '--to', `${target.host}/all`);
    assert.equal(code, 1);
    assert.match(stdout, /^copied {3}.*some\/good:1 → /);
    assert.match(stderr, /✗ .*some\/none:1: .* has no .*; check its name and tag/);
    assert.match(stderr, /"Not\/An image" is no name of an image/);
    assert.match(stderr, /1 copied, 2 failed/);
  });

  test('killed in the middle, the next run goes on and sends no part twice', async (t) => {
    const front = await frontOf(t, target);
    const images = await Promise.all([1, 2, 3].map((n) => pushImage(source.host, `cut/i${n}:1`, `cut ${n}`)));
    const folder = await writeFiles(await tempDir(t), runs('web', ...images.map(({ image }) => image)));
    const args = ['images', 'mirror', folder, ...OFFLINE, '--to', `${front.host}/cut`, '--parallel', '1'];
    let manifests = 0;
    // From the second image on nothing is named any more: its parts are there, and it is not.
    front.meddle = (asked) => asked.method === 'PUT' && /\/manifests\//.test(asked.url ?? '') && ++manifests > 1;
    const running = startEspalier(t, args);
    await eventually(() => assert.equal(manifests, 2));
    running.kill();
    await running.ended;
    const sent = blobsIn(writes(front));
    front.meddle = undefined;
    front.requests.length = 0;
    const { code, stdout, stderr } = await espalier(args);
    assert.deepEqual(
      [code, stdout.split('\n').length - 1, /2 copied, 1 there already/.test(stderr)],
      [0, 2, true],
      stderr,
    );
    const after = blobsIn(writes(front));
    assert.ok(sent.length >= 4 && after.length > 0, `${sent.length} and ${after.length}`);
    assert.deepEqual(
      after.filter((one) => sent.includes(one)),
      [],
    );
  });

  test('Ctrl-C while the source still renders ends it at once', async (t) => {
    const folder = await writeFiles(await tempDir(t), {
      'endless.yaml': pluginYaml('endless', 'app', { source: { git: { path: 'app', template: true } } }),
      'app/a.yaml': 'a: {{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}\n',
    });
    const TMPDIR = await tempDir(t);
    const running = startEspalier(t, ['images', 'mirror', folder, ...OFFLINE, '--to', target.host], {
      env: { TMPDIR },
    });
    await eventually(async () => assert.match((await readdir(TMPDIR)).join(), /espalier-render-/));
    running.kill('SIGINT');
    const { code, stderr } = await running.ended;
    assert.deepEqual([code, stderr], [2, 'espalier: interrupted; run it again to go on\n']);
    assert.deepEqual(await readdir(TMPDIR), []);
  });

  test('a login comes from the Docker configuration, and without one it says which is missing', async (t) => {
    const folder = await tempDir(t);
    const locked = await startRegistry(folder, { htpasswd: ADA.line });
    t.after(() => locked.stop());
    const { image } = await pushImage(source.host, 'login/app:1', 'login');
    await writeFiles(folder, runs('web', image));
    const auth = Buffer.from(`${ADA.username}:${ADA.password}`).toString('base64');
    await writeFile(join(folder, 'config.json'), JSON.stringify({ auths: { [locked.host]: { auth } } }));
    const args = ['images', 'mirror', folder, ...OFFLINE, '--to', locked.host];
    const without = await espalierProcess(args, { env: { DOCKER_CONFIG: join(folder, 'none') } });
    assert.equal(without.code, 1);
    assert.match(
      without.stderr,
      new RegExp(`${locked.host} can't be used: it wants a login .*docker login ${locked.host}`),
    );
    const withLogin = await espalierProcess(args, { env: { DOCKER_CONFIG: folder } });
    assert.equal(withLogin.code, 0, withLogin.stderr);
    assert.match(withLogin.stdout, /^copied /);
    assert.doesNotMatch(withLogin.stderr + withLogin.stdout + without.stderr, new RegExp(`${auth}|U\\*U`));
  });
});

async function frontOf(t: { after(run: () => Promise<void>): void }, { host }: Registry): Promise<Front> {
  const front = await startFront(host);
  t.after(() => front.close());
  return front;
}

/** Digests of the parts that were sent whole. */
function blobsIn(requests: readonly string[]): string[] {
  return requests.flatMap((one) => {
    const [, digest] = /^PUT .*\/blobs\/uploads\/.*digest=([^& ]+).* 201$/.exec(one) ?? [];
    return digest === undefined ? [] : [decodeURIComponent(digest)];
  });
}
