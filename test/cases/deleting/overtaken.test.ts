import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LABEL } from '../../../src/api/index.ts';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { eventually } from '../../support/eventually.ts';
import type { HttpProxy, SeenRequest } from '../../support/httpproxy.ts';
import { type Platform, startPlatform } from '../support/platform.ts';
import { startProxied } from '../support/proxied.ts';

// A removal is under way when the next commit wants the object again. The proxy stops it at the very step in between.

/** A window that opens in half a year. */
const CLOSED = { when: { window: { cron: `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} *`, for: '1h' } } };

async function startTwo(t: TestContext): Promise<{ platform: Platform; proxy: HttpProxy; uid: string }> {
  const { proxy, kubeconfig } = await startProxied(t);
  const platform = await startPlatform(t, {
    files: {
      'plugins/from.yaml': pluginYaml('from', 'apps/from'),
      'plugins/to.yaml': pluginYaml('to', 'apps/to'),
      'apps/from/stays.yaml': configMap('stays'),
      'apps/from/moves.yaml': configMap('moves'),
      'apps/to/own.yaml': configMap('own'),
    },
    agent: { kubeconfig },
  });
  await platform.settles();
  return { platform, proxy, uid: await platform.uid('moves') };
}

/** Holds the first request of a kind back until it is let go. */
function holdFirst(proxy: HttpProxy, isIt: (request: SeenRequest) => boolean) {
  const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  proxy.before = async (request) => {
    if (!isIt(request)) return undefined;
    proxy.before = undefined;
    held.resolve();
    await free.promise;
    return undefined;
  };
  return { held: held.promise, letGo: () => free.resolve() };
}

const isDeletion = ({ method, path }: SeenRequest) => method === 'DELETE' && path.includes('/configmaps/moves');

/** The read right before the deletion: the first one after it went on record that the object leaves. */
function lastRead(): (request: SeenRequest) => boolean {
  let isLeaving = false;
  return ({ method, path, body }) => {
    isLeaving ||= method === 'PATCH' && path.includes('/plugins/from/status') && body.includes('applied=leaving');
    return isLeaving && method === 'GET' && path.includes('/configmaps/moves');
  };
}

async function recordOf({ plugin }: Platform, name: string): Promise<string[] | undefined> {
  return (await plugin(name))?.status?.inventory?.map((entry) => entry.name);
}

async function stayed({ uid: uidOf, get }: Platform, uid: string, owner: string): Promise<void> {
  assert.equal(await uidOf('moves'), uid);
  assert.equal((await get('ConfigMap', 'moves'))?.metadata.labels?.[LABEL.plugin], owner);
}

test('an object that another plugin takes over while its deletion is on the way is left to that plugin', async (t) => {
  const { platform, proxy, uid } = await startTwo(t);
  const { held, letGo } = holdFirst(proxy, isDeletion);
  await platform.push({ 'apps/from/moves.yaml': null });
  await held;
  await platform.push({ 'apps/to/moves.yaml': configMap('moves') });
  await eventually(() => stayed(platform, uid, 'to'));
  letGo();
  await platform.settles();
  await stayed(platform, uid, 'to');
});

test('an object that another plugin declares before its deletion is sent stays, though that plugin still waits', async (t) => {
  const { platform, proxy, uid } = await startTwo(t);
  const { held, letGo } = holdFirst(proxy, lastRead());
  await platform.push({ 'apps/from/moves.yaml': null });
  await held;
  await platform.push({
    'plugins/to.yaml': pluginYaml('to', 'apps/to', CLOSED),
    'apps/to/moves.yaml': configMap('moves'),
  });
  await platform.pluginReaches('to', 'Waiting');
  letGo();
  await platform.pluginSays('from', /declared elsewhere, and not taken over yet: ConfigMap \S+\/moves/);
  assert.equal(await platform.uid('moves'), uid);
  await platform.push({ 'plugins/to.yaml': pluginYaml('to', 'apps/to') });
  await platform.settles();
  await eventually(async () => assert.deepEqual(await recordOf(platform, 'from'), ['stays']));
  await stayed(platform, uid, 'to');
});

test('an object that its own plugin declares again before its deletion is sent stays', async (t) => {
  const { platform, proxy, uid } = await startTwo(t);
  const { held, letGo } = holdFirst(proxy, lastRead());
  await platform.push({ 'apps/from/moves.yaml': null });
  await held;
  const before = (await platform.plugin('from'))?.metadata.generation;
  await platform.push({ 'apps/from/moves.yaml': configMap('moves') });
  await eventually(async () => assert.notEqual((await platform.plugin('from'))?.metadata.generation, before));
  letGo();
  await platform.settles();
  await stayed(platform, uid, 'from');
});
