import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { validateObject } from '../../src/api/index.ts';
import { KUBEGEMS_PLUGIN } from '../../src/compat/kubegems-kind.ts';
import { describeFault } from '../../src/declare/fault.ts';
import { readDeclarations } from '../../src/declare/reader.ts';
import { folderTree } from '../../src/git/foldertree.ts';
import { blocksOf } from './documentation.ts';
import { textTree } from './text-tree.ts';

const text = readFileSync(new URL('../../docs/kubegems.md', import.meta.url), 'utf8');
const page = blocksOf(text);
const EXAMPLE = fileURLToPath(new URL('../../examples/kubegems', import.meta.url));
const options = { path: '.', cluster: { name: 'prod-eu', labels: {} }, namespace: 'espalier-system' };

async function filesOf(mark: string): Promise<Record<string, string>> {
  const shown = page.filter(({ file, mark: is }) => file !== undefined && is === mark);
  return Object.fromEntries(shown.map((block) => [block.file ?? '', block.text]));
}

test('the repository of docs/kubegems.md is examples/kubegems, and compiles with its overlay', async () => {
  const { 'platform.yaml': platform = '', ...rest } = await filesOf('');
  assert.equal(platform, await readFile(`${EXAMPLE}/platform.yaml`, 'utf8'));
  const example = await readDeclarations(folderTree(EXAMPLE), options);
  assert.deepEqual(example.faults.map(describeFault), []);
  const chart = { 'charts/platform/Chart.yaml': 'name: platform\n' };
  const { objects, faults } = await readDeclarations(
    textTree({ ...rest, ...chart, 'platform.yaml': platform }),
    options,
  );
  assert.deepEqual(faults.map(describeFault), []);
  const spec = objects[0]?.object.spec as { kind: string; values: unknown };
  assert.equal(spec.kind, 'template');
  const ingress = { enabled: true, values: { who: 'everybody' } };
  assert.deepEqual(spec.values, { ingress, monitoring: { enabled: true } });
});

test('the faults of docs/kubegems.md are printed as the page shows them', async () => {
  const { faults } = await readDeclarations(textTree(await filesOf('refused')), options);
  const shown = page.find(({ language }) => language === 'text');
  assert.equal(`${faults.map(describeFault).join('\n')}\n`, shown?.text);
});

test('docs/kubegems.md explains every field of spec and status, and its Sync is valid', () => {
  for (const field of [
    ...Object.keys(KUBEGEMS_PLUGIN.spec.properties ?? {}),
    ...Object.keys(KUBEGEMS_PLUGIN.status.properties ?? {}),
  ])
    assert.match(text, new RegExp(`\`${field}\\b`), field);
  const sync = page.find(({ mark }) => mark === 'sync');
  assert.deepEqual(validateObject(parse(sync?.text ?? '')), []);
});
