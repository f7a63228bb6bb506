import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, LABEL } from '../../../src/api/index.ts';
import { configMap, getPlugin, pluginYaml } from '../../support/agent.ts';
import { testClient } from '../../support/cluster.ts';
import type { SeenRequest } from '../../support/httpproxy.ts';
import { type Fate, startDoomedWith } from './support/doomed.ts';

/** So many that intents go on record together: see docs/decisions/0022. */
const NAMES = Array.from({ length: 48 }, (_, index) => `many-${String(index).padStart(2, '0')}`);

const FILES = Object.fromEntries(
  NAMES.flatMap((name) => [
    [`plugins/${name}.yaml`, pluginYaml(name, `apps/${name}`)],
    [`apps/${name}/cm.yaml`, configMap(name)],
  ]),
);

const isRecord = ({ method, path, body }: SeenRequest): boolean =>
  method !== 'PATCH' && path.includes('/configmaps') && body.includes('espalier-intents');

/** The first write of an object whose intent is in the common record alone. */
function firstOfMany(): Fate['counts'] {
  const intents: string[] = [];
  return (request) => {
    if (isRecord(request)) intents.push(request.body);
    return request.method === 'PATCH' && NAMES.some((name) => isApply(request, name) && intents.join().includes(name));
  };
}

function isApply({ path }: SeenRequest, name: string): boolean {
  return path.includes(`/configmaps/${name}?`);
}

/** Names of the objects that are there and carry our label. */
async function installed(namespace: string): Promise<string[]> {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace, labelSelector: LABEL.plugin };
  return (await testClient().list(target)).items.map(({ metadata }) => metadata.name);
}

const KILLED: Record<string, Fate> = {
  'before many intents were on record': { at: 2, when: 'before', counts: isRecord },
  'when they were, and nothing else': { at: 2, when: 'after', counts: isRecord },
  'when an object of them was made': { at: 1, when: 'after', counts: firstOfMany() },
};

for (const [when, fate] of Object.entries(KILLED))
  test(`R2 killed ${when}: what is deleted meanwhile goes with its objects, and the rest is installed`, async (t) => {
    const doomed = await startDoomedWith(t, FILES, fate);
    await doomed.agent.dead;
    if (when === 'when an object of them was made') {
      const unrecorded = [];
      for (const name of await installed(doomed.namespace))
        if ((await getPlugin(testClient(), doomed.namespace, name))?.status?.inventory === undefined)
          unrecorded.push(name);
      assert.notDeepEqual(unrecorded, [], 'the Plugin itself does not know of its object');
    }
    const [kept = '', ...rest] = NAMES;
    // Deleted by hand too: or the next agent would apply them once more, before it hears of the commit.
    for (const name of rest)
      await testClient().delete({ apiVersion: API_VERSION, kind: 'Plugin', namespace: doomed.namespace, name });
    await doomed.goOn(await doomed.push(Object.fromEntries(rest.map((name) => [`plugins/${name}.yaml`, null]))));
    assert.deepEqual(await installed(doomed.namespace), [kept]);
    const plugins = (await testClient().list({ apiVersion: API_VERSION, kind: 'Plugin', namespace: doomed.namespace }))
      .items;
    assert.deepEqual(
      plugins.map(({ metadata }) => metadata.name),
      [kept],
    );
  });
