import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { describeFault } from '../../src/declare/fault.ts';
import { readDeclarations } from '../../src/declare/reader.ts';
import { parseValues } from '../../src/declare/values-text.ts';
import { folderTree } from '../../src/git/foldertree.ts';
import { buildGraph, type Dependency } from '../../src/resolve/graph.ts';
import { blocksOf } from './documentation.ts';
import { textTree } from './text-tree.ts';

const page = blocksOf(readFileSync(new URL('../../docs/repository.md', import.meta.url), 'utf8'));
const files = (mark: string): Record<string, string> =>
  Object.fromEntries(
    page.flatMap((block) => (block.file !== undefined && block.mark === mark ? [[block.file, block.text]] : [])),
  );
const cluster = { name: 'prod-eu', labels: { region: 'eu', tier: 'prod' } };

test('the repository of docs/repository.md compiles without a fault to what the page says', async () => {
  const { objects, faults } = await readDeclarations(
    textTree({ ...files(''), 'manifests/keepalived/keepalived.conf': '' }),
    {
      path: '.',
      cluster,
      namespace: 'espalier-system',
    },
  );
  assert.deepEqual(faults.map(describeFault), []);
  assert.deepEqual(objects.map((one) => one.object.metadata.name).sort(), ['billing', 'keepalived', 'network', 'web']);
  const shown = page.find((block) => block.mark === 'result');
  assert.deepEqual(objects.find((one) => one.object.metadata.name === 'web')?.object, parseValues(shown?.text ?? ''));
});

test('the faults of docs/repository.md are printed as the page shows them', async () => {
  const { faults } = await readDeclarations(textTree({ ...files(''), ...files('refused') }), {
    path: '.',
    cluster,
    namespace: 'espalier-system',
  });
  const shown = page.find((block) => block.language === 'text');
  assert.equal(`${faults.map(describeFault).join('\n')}\n`, shown?.text);
});

for (const name of ['playground', 'another', undefined]) {
  test(`examples/repo compiles without a fault for ${name === undefined ? 'a cluster without a name' : `the cluster ${name}`}`, async () => {
    const tree = folderTree(new URL('../../examples/repo', import.meta.url).pathname);
    const options = { path: '.', cluster: { name, labels: { tier: 'prod' } }, namespace: 'espalier-system' };
    const { objects, faults, brokenFiles } = await readDeclarations(tree, options);
    assert.deepEqual(faults.map(describeFault), []);
    assert.deepEqual(brokenFiles, []);
    const graph = buildGraph(
      objects.map(({ object }) => ({
        namespace: object.metadata.namespace ?? '',
        name: object.metadata.name,
        dependsOn: (object.spec as { dependsOn?: Dependency[] }).dependsOn ?? [],
      })),
    );
    assert.deepEqual([...graph.refused], []);
    assert.equal(
      objects.some(({ object }) => object.metadata.name === 'node-tuning'),
      name !== 'playground',
    );
  });
}
