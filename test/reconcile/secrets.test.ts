import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { getPlugin, getSync, pluginReaches, pluginYaml } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { uniqueName } from '../support/names.ts';
import { type Scene, startScene } from './scene.ts';

const CANARY = `${uniqueName('canary')}-"quoted" & more`;
/** What the agent logs, of all tests of this file. */
const LOG = process.env.ESPALIER_TEST_LOG ?? join(tmpdir(), `${uniqueName('espalier')}.log`);
process.env.ESPALIER_TEST_LOG = LOG;
after(() => rm(LOG, { force: true }));

describe('secret values', { concurrency: 3 }, () => {
  test('of a Secret that drifted are in no status, event or log', async (t) => {
    const scene = await startScene(t, {
      files: { 'plugins/a.yaml': pluginYaml('a', 'apps/a'), 'apps/a/secret.yaml': secret({ password: CANARY }) },
    });
    await scene.client.patch(
      scene.ref('Secret', 'vault'),
      { stringData: { password: `${CANARY} by hand` } },
      { type: 'merge', fieldManager: 'somebody' },
    );
    await eventually(async () => {
      const { data } = await scene.get('Secret', 'vault');
      assert.equal((data as { password: string }).password, Buffer.from(CANARY).toString('base64'));
    });
    const notes = await eventually(async () => {
      const found = await notesIn(scene);
      assert.match(found, /data\.password/);
      return found;
    });
    await assertNowhere(scene, notes);
  });

  test('of a Secret that the API server refuses are in no status, event or log', async (t) => {
    const files = {
      'plugins/a.yaml': pluginYaml('a', 'apps/a'),
      'apps/a/secret.yaml': secret({ 'not a/key': CANARY }),
    };
    const scene = await startScene(t, { files, until: 'Failed' });
    const { status } = await pluginReaches(scene.client, scene.namespace, 'a', 'Failed');
    assert.match(status?.message ?? '', /Secret .*\/vault: .*withheld/);
    await assertNowhere(scene, await notesIn(scene));
  });

  for (const [what, template] of Object.entries({
    'that a template fails with':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ fail (printf "no good: %s" .db.password) }} }\n',
    'that make an object invalid':
      'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, labels: {x: {{ .db.password | quote }} }}\n',
  })) {
    test(`from valuesFrom ${what} are in no status, event or log`, async (t) => {
      const source = { git: { path: 'apps/a', template: true } };
      const spec = { source, valuesFrom: [{ kind: 'Secret', name: 'values', key: 'values.yaml' }] };
      const files = { 'plugins/a.yaml': pluginYaml('a', 'apps/a', spec), 'apps/a/a.yaml': template };
      const scene = await startScene(t, { files, until: undefined });
      const values = JSON.stringify({ db: { password: CANARY } });
      await scene.client.create({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'values', namespace: scene.namespace },
        stringData: { 'values.yaml': values },
      });
      const { status } = await pluginReaches(scene.client, scene.namespace, 'a', 'Failed');
      assert.match(status?.message ?? '', /\[redacted\]/);
      await assertNowhere(scene, await notesIn(scene));
    });
  }
});

function secret(stringData: Record<string, string>): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'vault' }, stringData });
}

async function notesIn({ client, namespace }: Scene): Promise<string> {
  const { items } = await client.list({ apiVersion: 'events.k8s.io/v1', kind: 'Event', namespace });
  return items.map(({ note }) => String(note)).join('\n');
}

async function assertNowhere(scene: Scene, notes: string): Promise<void> {
  const plugin = JSON.stringify((await getPlugin(scene.client, scene.namespace, 'a'))?.status);
  const sync = JSON.stringify((await getSync(scene.client, scene.namespace)).status);
  const log = await readFile(LOG, 'utf8');
  const start = CANARY.slice(0, 15);
  for (const form of [start, Buffer.from(start).toString('base64').slice(0, 18), encodeURIComponent(start)])
    for (const [place, text] of Object.entries({ plugin, sync, notes, log }))
      assert.ok(!text.includes(form), `${place}: ${text}`);
}
