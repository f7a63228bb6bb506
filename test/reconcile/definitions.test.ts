import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { findCondition } from '../../src/api/index.ts';
import { gadgetDefinition } from '../helm/charts/crds.ts';
import { pluginReaches, pluginYaml, syncReaches } from '../support/agent.ts';
import { testClient } from '../support/cluster.ts';
import type { Fault } from '../support/httpproxy.ts';
import { uniqueName } from '../support/names.ts';
import { type Scene, startScene } from './scene.ts';

/** The API server's own words, for as long as it goes by the schema from before. */
const NOT_DECLARED: Fault = {
  status: 500,
  body: JSON.stringify({
    kind: 'Status',
    status: 'Failure',
    code: 500,
    message:
      'failed to create typed patch object (x/one; x/v1, Kind=Gadget): .spec.colour: field not declared in schema',
  }),
};

function groupFor(t: TestContext): string {
  const group = `${uniqueName('defs')}.example.com`;
  const name = `gadgets.${group}`;
  const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name };
  t.after(() => testClient().delete(definition));
  return group;
}

function gadget(group: string, spec: Record<string, unknown>): string {
  return JSON.stringify({ apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'one' }, spec });
}

/** What the agent said of a Plugin's phase since the proxy was reset. */
function phasesOf(scene: Scene, plugin: string): string[] {
  return scene.proxy.requests
    .filter(({ method, path }) => method !== 'GET' && path.includes(`/plugins/${plugin}/status`))
    .map(({ body }) => /"phase":"(\w+)"/.exec(body)?.[1] ?? '');
}

/** The definition in one Plugin, an object of it in another. */
function startApart(t: TestContext, group: string): Promise<Scene> {
  return startScene(t, {
    files: {
      'plugins/kinds.yaml': pluginYaml('kinds', 'apps/kinds'),
      'plugins/objects.yaml': pluginYaml('objects', 'apps/objects'),
      'apps/kinds/kind.yaml': gadgetDefinition(group),
      'apps/objects/one.yaml': gadget(group, { size: 'small' }),
    },
  });
}

const isGadget = (path: string): boolean => path.includes('/gadgets/one');
const isDefinition = (path: string): boolean => path.includes('/customresourcedefinitions/gadgets.');

describe('a definition that changes', { concurrency: 3 }, () => {
  test('and an object of it in one revision: what the old schema refuses for a moment is no failure', async (t) => {
    const group = groupFor(t);
    const scene = await startScene(t, {
      files: {
        'plugins/a.yaml': pluginYaml('a', 'apps/a'),
        'apps/a/kind.yaml': gadgetDefinition(group),
        'apps/a/one.yaml': gadget(group, { size: 'small' }),
      },
    });
    let refusals = 0;
    scene.proxy.reset();
    scene.proxy.before = ({ method, path }) =>
      method === 'PATCH' && isGadget(path) && refusals++ < 3 ? NOT_DECLARED : undefined;
    await scene.settle({
      'apps/a/kind.yaml': gadgetDefinition(group, ['size', 'colour']),
      'apps/a/one.yaml': gadget(group, { size: 'small', colour: 'red' }),
    });
    assert.ok(refusals > 3, 'it was refused, and then taken');
    assert.ok(!phasesOf(scene, 'a').includes('Failed'), phasesOf(scene, 'a').join());
  });

  test('in one plugin, with an object of it in another that does not wait for it: no failure either', async (t) => {
    const group = groupFor(t);
    const scene = await startApart(t, group);
    const triedAgain = Promise.withResolvers<void>();
    let tries = 0;
    scene.proxy.reset();
    scene.proxy.before = async ({ method, path }) => {
      if (method === 'PATCH' && isGadget(path) && ++tries === 2) triedAgain.resolve();
      if (method === 'PATCH' && isDefinition(path)) await triedAgain.promise;
      return undefined;
    };
    await scene.settle({
      'apps/kinds/kind.yaml': gadgetDefinition(group, ['size', 'colour']),
      'apps/objects/one.yaml': gadget(group, { size: 'small', colour: 'red' }),
    });
    assert.ok(!phasesOf(scene, 'objects').includes('Failed'), phasesOf(scene, 'objects').join());
  });

  test('lets in at once what was refused before', async (t) => {
    const group = groupFor(t);
    const scene = await startApart(t, group);
    const { client, namespace } = scene;
    const suspend = (wish: boolean) =>
      client.patch(scene.ref('Plugin', 'kinds'), { spec: { suspend: wish } }, { type: 'merge' });
    await suspend(true);
    await pluginReaches(client, namespace, 'kinds', 'Suspended');
    scene.proxy.reset();
    const commit = await scene.push({
      'apps/kinds/kind.yaml': gadgetDefinition(group, ['size', 'colour']),
      'apps/objects/one.yaml': gadget(group, { colour: 'red' }),
    });
    await syncReaches(client, namespace, 'Failed', { commit });
    const { status } = await pluginReaches(client, namespace, 'objects', 'Failed');
    const stalled = findCondition(status?.conditions, 'Stalled');
    assert.equal(stalled?.status, 'True', 'a person must act');
    assert.match(
      stalled?.message ?? '',
      /Gadget \S+\/one: it does not fit the schema of its kind: \.spec\.colour: field not declared in schema/,
    );
    const tries = scene.proxy.requests.filter(({ method, path }) => method === 'PATCH' && isGadget(path));
    assert.equal(tries.length, 1, 'the same object never fits: it is not sent again and again');
    await suspend(false);
    await syncReaches(client, namespace, 'Ready', { commit, timeoutMs: 20_000 });
    const one = await client.get({ apiVersion: `${group}/v1`, kind: 'Gadget', namespace, name: 'one' });
    assert.deepEqual(one?.spec, { colour: 'red' });
  });
});
