import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { type KubeObject, validateObject } from '../../src/api/index.ts';
import { importCommand } from '../../src/cli/import.ts';
import { fromArgo } from '../../src/compat/import/argo.ts';
import { fromFlux } from '../../src/compat/import/flux.ts';
import { objectsOf, worldWith } from '../../src/compat/import/world.fixture.ts';
import { blocksOf } from '../declare/documentation.ts';

const page = readFileSync(new URL('../../docs/import.md', import.meta.url), 'utf8');
const files = new Map(blocksOf(page).flatMap(({ file, text }) => (file === undefined ? [] : [[file, text] as const])));
const objectsIn = (file: string): KubeObject[] => objectsOf<KubeObject>(files.get(file) ?? '');

describe('docs/import.md', () => {
  test('what a HelmRelease becomes is what the page shows', () => {
    const [release, ...sources] = objectsIn('before.yaml');
    const { plugins, left } = fromFlux(
      { releases: release === undefined ? [] : [release], kustomizations: [], sources },
      worldWith(),
    );
    assert.deepEqual(plugins, objectsIn('after.yaml'));
    assert.deepEqual([left, validateObject(plugins[0])], [[], []]);
  });

  test('what an Application becomes is what the page shows', () => {
    const { plugins } = fromArgo({ applications: objectsIn('argocd-before.yaml'), beside: [] }, worldWith());
    assert.deepEqual(plugins, objectsIn('argocd-after.yaml'));
    assert.deepEqual(validateObject(plugins[0]), []);
  });

  test('every option that it names is one', () => {
    const options = importCommand().options.map(({ long }) => long);
    for (const [, option] of page.matchAll(/(?<![-\w])(--[a-z][a-z-]+)/g)) assert.ok(options.includes(option), option);
  });
});
