import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, CONDITION } from '../../../src/api/index.ts';
import type { GitFault } from '../../../src/playground/gitfault.ts';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { eventually } from '../../support/eventually.ts';
import { commitFiles } from '../../support/gitserver.ts';
import { type Platform, startPlatform } from '../support/platform.ts';

const NAMES = ['a', 'b', 'c'];
const files = {
  ...Object.fromEntries(NAMES.map((name) => [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)])),
  ...Object.fromEntries(NAMES.map((name) => [`apps/${name}/cm.yaml`, configMap(name)])),
};

const uidsOf = (platform: Platform) => Promise.all(NAMES.map((name) => platform.uid(name)));

/** What a server may do instead of answering, and the reasons that a status may give for it. */
const FAULTS: Record<string, { fault: GitFault; reasons: string[] }> = {
  'a sign-in page': { fault: { kind: 'html' }, reasons: ['GitProtocolError'] },
  'a web page on one line, which git itself takes for an empty repository': {
    fault: { kind: 'html', page: '<!doctype html><title>Sign in</title>' },
    reasons: ['GitProtocolError'],
  },
  'an empty page': { fault: { kind: 'html', page: '' }, reasons: ['GitProtocolError'] },
  'credentials refused': { fault: { kind: 'status', status: 401 }, reasons: ['GitAuthFailed'] },
  'nothing found': { fault: { kind: 'status', status: 404 }, reasons: ['GitNotFound'] },
  'a server error': { fault: { kind: 'status', status: 500 }, reasons: ['GitUnreachable'] },
  silence: { fault: { kind: 'hang' }, reasons: ['GitTimedOut'] },
  'an answer that breaks off': { fault: { kind: 'cut' }, reasons: ['GitProtocolError', 'GitUnreachable'] },
  garbage: { fault: { kind: 'garbage' }, reasons: ['GitProtocolError'] },
  'a redirect elsewhere': { fault: { kind: 'redirect', to: 'http://127.0.0.1:9/' }, reasons: ['GitBadUrl'] },
};

test('D20: whatever Git answers instead of refs, nothing is deleted, the last good state is held and the status says what happened', async (t) => {
  const platform = await startPlatform(t, { files, spec: { repository: { timeout: '3s' } } });
  await platform.settles();
  const uids = await uidsOf(platform);
  for (const [name, { fault, reasons }] of Object.entries(FAULTS)) {
    await t.test(name, async () => {
      const heal = platform.server.misbehave({ fault });
      await commitFiles(platform.repository, { 'plugins/a.yaml': null, 'README.md': name });
      platform.look();
      // Where the machine stops for a while it may be the time that is over first; the next try says what is wrong.
      const sync = await eventually(async () => {
        const failed = await platform.reaches('Failed');
        const ready = failed.status?.conditions?.find((one) => one.type === CONDITION.Ready);
        assert.ok(reasons.includes(ready?.reason ?? ''), `${ready?.reason}: ${ready?.message}`);
        return failed;
      });
      assert.match(sync.status?.message ?? '', new RegExp(`; the state of ${platform.commit.slice(0, 10)} is held$`));
      assert.deepEqual(await uidsOf(platform), uids);
      assert.equal(sync.status?.inventory?.length, NAMES.length);
      heal();
      await platform.push({ 'plugins/a.yaml': pluginYaml('a', 'apps/a') });
      await platform.settles();
      assert.deepEqual(await uidsOf(platform), uids);
    });
  }
});

test('D20: a pack that breaks off leaves the last good state, and an agent that starts meanwhile deletes nothing and repairs', async (t) => {
  const platform = await startPlatform(t, { files, spec: { repository: { timeout: '2s' } } });
  await platform.settles();
  const uids = await uidsOf(platform);
  const heal = platform.server.misbehave({ fault: { kind: 'cut' }, step: 'exchange' });
  await commitFiles(platform.repository, { 'plugins/a.yaml': null });
  platform.look();
  await platform.says(/is held$/);

  await platform.restart();
  const { client, ref } = platform;
  await client.patch(ref('ConfigMap', 'b'), { data: { a: 'by hand' } }, { type: 'merge', fieldManager: 'somebody' });
  await eventually(async () => assert.deepEqual((await platform.get('ConfigMap', 'b'))?.data, { a: '1' }));
  assert.deepEqual(await uidsOf(platform), uids);

  heal();
  platform.look();
  await platform.isGone('ConfigMap', 'a');
});

test('while Git can not be reached, a Plugin that somebody deletes is put back, and what left Git meanwhile stays', async (t) => {
  const platform = await startPlatform(t, { files });
  await platform.settles();
  const [, ...others] = await uidsOf(platform);
  const heal = platform.server.misbehave({ fault: { kind: 'status', status: 500 } });
  await commitFiles(platform.repository, { 'plugins/b.yaml': null });
  platform.look();
  await platform.says(/is held$/);
  const plugin = { ...platform.ref('Plugin', 'a'), apiVersion: API_VERSION };
  const before = await platform.client.get(plugin);
  await platform.client.delete(plugin);
  await eventually(async () => {
    const now = await platform.client.get(plugin);
    assert.ok(now !== undefined && now.metadata.uid !== before?.metadata.uid, 'it was made anew');
    assert.deepEqual((await platform.get('ConfigMap', 'a'))?.data, { a: '1' });
  });
  await platform.says(/is held$/);
  assert.deepEqual((await uidsOf(platform)).slice(1), others);
  heal();
  platform.look();
  await platform.isGone('ConfigMap', 'b');
});

test('a commit that is announced while another is being fetched is not missed', async (t) => {
  const platform = await startPlatform(t, { files });
  await platform.settles();
  const heal = platform.server.misbehave({ fault: { kind: 'slow', delayMs: 700 }, step: 'exchange' });
  const before = platform.server.requests.length;
  await platform.push({ 'apps/a/cm.yaml': configMap('a', { a: 'first' }) });
  await eventually(() => assert.ok(platform.server.requests.length > before, 'the head is known'));
  await platform.push({ 'apps/a/cm.yaml': configMap('a', { a: 'second' }) });
  await platform.settles();
  heal();
  assert.deepEqual((await platform.get('ConfigMap', 'a'))?.data, { a: 'second' });
});
