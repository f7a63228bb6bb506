import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type MemoryFile, memoryTree } from '../git/memorytree.ts';
import { faultsHere } from './faults-here.ts';
import { readPackage } from './read-package.ts';
import { treePackage } from './tree-package.ts';

async function faultsOf(
  files: Record<string, string>,
  links: string[] = [],
  labels: Record<string, string> = {},
): Promise<string[]> {
  const entries: (readonly [string, MemoryFile])[] = [
    ...Object.entries(files).map(([path, data]) => [path, { type: 'file', data: Buffer.from(data) }] as const),
    ...links.map((path) => [path, { type: 'link' }] as const),
  ];
  const found = await readPackage(await treePackage(memoryTree(new Map(entries), 'local'), 'p'));
  return faultsHere(found, { delegateConditions: ['EnsureA'], sync: 'sys/platform', labels }).map(
    ({ file, line, message }) => `${file}:${line}: ${message}`,
  );
}

describe('a package in Git', () => {
  test('needs no images there, and is told every fault with its place', async () => {
    const sound = 'images: [demo/alpine:3.10]\ncreate_cluster_delegate_conditions: [EnsureA]\nhooks: [pre-install]\n';
    assert.deepEqual(await faultsOf({ 'p/expansion.yaml': sound, 'p/hooks/pre-install': '#!/bin/sh\n' }), []);
    const wrong = {
      'p/expansion.yaml':
        'charts: [a.tgz, b.tgz]\nhooks: [pre-install]\ncreate_cluster_delegate_conditions: [EnsureB]\n',
      'p/charts/a.tgz': 'no archive',
      'p/hooks/pre-install': 'echo',
      'p/notes.txt': '',
    };
    const told = (await faultsOf(wrong, ['p/link'])).join('\n');
    assert.match(told, /^charts\/a\.tgz:1: does not load as a chart/m);
    assert.match(told, /^expansion\.yaml:1: charts: "b\.tgz" is missing/m);
    assert.match(told, /^hooks\/pre-install:1: does not begin with what runs it/m);
    assert.match(told, /^notes\.txt:1: is not listed/m);
    assert.match(told, /^link:1: is a link/m);
    assert.match(told, /^expansion\.yaml:3: .*"EnsureB" may not be delegated here.* of Sync sys\/platform$/m);
    assert.equal(told.split('\n').length, 6, told);
  });

  test('that is for the management cluster may delegate what other clusters forbid', async () => {
    const text = 'create_cluster_delegate_conditions: [EnsureB]\ndisable_pass_through_to_platform: true\n';
    const files = { 'p/expansion.yaml': text };
    assert.deepEqual(await faultsOf(files), []);
    assert.match(
      (await faultsOf(files, [], { 'espalier.dev/role': 'management' })).join(),
      /may not be delegated here/,
    );
  });

  test('that is neither a folder nor a .tgz is refused', async () => {
    const tree = memoryTree(new Map([['demo.tgz', { type: 'file', data: Buffer.from('x') }]]), 'local');
    await assert.rejects(treePackage(tree, 'demo.tgz'), /demo\.tgz is no package, or not a whole one/);
    await assert.rejects(treePackage(tree, 'other'), /There is nothing at "other"/);
  });
});
