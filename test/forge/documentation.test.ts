import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { readAs, type SyncDeclaration, validateObject } from '../../src/api/index.ts';
import { speakerOf } from '../../src/reconcile/speaker.ts';
import { asksFor } from '../../src/report/approval.ts';
import { contextsOf } from '../../src/report/contexts.ts';
import { driftVerdicts } from '../../src/report/drift.ts';
import { headVerdict, type PluginState } from '../../src/report/verdict.ts';
import { blocksOf } from '../declare/documentation.ts';

async function pageOf(name: string) {
  const page = await readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
  const blocks = blocksOf(page);
  const yaml = blocks.filter(({ language }) => language === 'yaml').map(({ text }) => parse(text) as SyncDeclaration);
  return { page, blocks, yaml };
}

for (const name of ['forges', 'pull-requests'])
  test(`the Sync of docs/${name}.md is valid`, async () => {
    const { yaml } = await pageOf(name);
    assert.equal(yaml.length, 1);
    assert.deepEqual(yaml.flatMap(validateObject), []);
  });

describe('docs/pull-requests.md', async () => {
  const { page, blocks, yaml } = await pageOf('pull-requests');

  test('names the contexts that its Sync speaks under, alone and beside another', () => {
    const [sync] = yaml.map((object) => readAs(object, 'Sync'));
    assert.ok(sync !== undefined);
    const { all, drift, plan, plugin } = contextsOf(speakerOf(sync, []), 'espalier-system');
    for (const context of [all, drift, plan, plugin('espalier-system/web')])
      assert.match(page, new RegExp(`^\\| \`${context}\` \\|`, 'm'));
    const younger = { ...sync, metadata: { ...sync.metadata, name: 'addons', creationTimestamp: '2026-01-01' } };
    assert.ok(page.includes(`\`${contextsOf(speakerOf(younger, [sync]), '').all}\``));
  });

  test('says which settings of its Sync are not the defaults', () => {
    const [{ spec } = { spec: undefined }] = yaml;
    const { statuses, pluginStatuses, previews, forks, ...rest } = spec?.forge ?? {};
    const bare = { ...yaml[0], spec: { ...spec, forge: rest } } as SyncDeclaration;
    const { forge } = readAs(bare, 'Sync').spec;
    assert.deepEqual([forge?.statuses, forge?.previews], [statuses, previews]);
    assert.deepEqual([forge?.pluginStatuses, forge?.forks], [false, 'never']);
    assert.deepEqual([pluginStatuses, forks], [true, 'asked']);
  });

  test('quotes statuses as they come out', () => {
    const state = (name: string, is: PluginState['state'], why = ''): PluginState => ({
      ...{ key: `espalier-system/${name}`, name, why },
      state: is,
    });
    const ready = Array.from({ length: 11 }, (_, at) => state(`p${at}`, 'ready'));
    const facts = { written: true, faults: [] };
    const what = ['ConfigMap web/web: create, not change'];
    const all = [...ready, state('cert-manager', 'ready')];
    for (const verdict of [
      headVerdict({ ...facts, plugins: [...ready, state('cert-manager', 'waiting')] }),
      headVerdict({ ...facts, plugins: all }),
      headVerdict({ ...facts, plugins: [state('web', 'failed', 'image not found')] }),
      headVerdict({ ...facts, faults: ['plugins/web.yaml:3:5: unknown field "replica"'], plugins: [] }),
      headVerdict({ ...facts, plugins: all, differs: { pullRequest: 12, what } }),
      ...driftVerdicts(
        [{ plugin: 'web', object: 'Deployment web/web', fields: ['/spec/replicas'], by: 'kubectl' }],
        ...([[], undefined, true] as const),
      ),
    ])
      assert.ok(page.replaceAll('\n', ' ').includes(`\`${verdict.description}\``), verdict.description);
  });

  test('shows comments that are understood as what it says they are', () => {
    const head = `4f1c2aa9d0${'0'.repeat(30)}`;
    for (const what of ['approve', 'plan'] as const) {
      const [block, ...more] = blocks.filter(({ mark }) => mark === what);
      assert.deepEqual(more, []);
      const comment = { author: 'ada', body: block?.text ?? '', writtenAt: 1, edited: false };
      assert.deepEqual(asksFor(what, [comment], head, 0), [comment]);
    }
  });
});
