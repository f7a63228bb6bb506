import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../api/index.ts';
import { chartsIn, madeOfSame, sameObjects } from './made-of.ts';

const CHART = {
  metadata: { name: 'web', version: '1.0.0' },
  templates: [
    { name: 'templates/a.yaml', data: 'QQ==', modtime: '2026-01-01T00:00:00Z' },
    { name: 'templates/b.yaml', data: 'Qg==' },
  ],
  values: { a: 1, b: { c: 2 } },
  files: [],
};

test('the same chart and values are the same, whatever the order and the times of files', () => {
  const [a, b] = CHART.templates;
  const other = {
    ...CHART,
    templates: [b, { name: a?.name, data: a?.data }],
    values: { b: { c: 2 }, a: 1 },
  } as JsonObject;
  assert.ok(madeOfSame({ chart: CHART, config: {} }, { chart: other }));
});

for (const [what, changes, config] of [
  ['another version', { metadata: { name: 'web', version: '1.0.1' } }, {}],
  ['another template', { templates: [{ name: 'templates/a.yaml', data: 'Qg==' }] }, {}],
  ['other defaults', { values: { a: 2 } }, {}],
  ['another file', { files: [{ name: 'crds/x.yaml', data: 'QQ==' }] }, {}],
  ['other values', {}, { a: 2 }],
] satisfies [string, JsonObject, JsonObject][]) {
  test(`${what} makes another revision`, () => {
    assert.ok(!madeOfSame({ chart: CHART, config: {} }, { chart: { ...CHART, ...changes }, config }));
  });
}

test('charts in a chart are not on record, but what came from them is', () => {
  const manifest = [
    'web/templates/a.yaml',
    'web/charts/db/templates/a.yaml',
    'web/charts/db/charts/x/templates/a.yaml',
  ];
  assert.deepEqual(chartsIn({ manifest: manifest.map((path) => `---\n# Source: ${path}\nkind: A\n`).join('') }), [
    'db',
  ]);
  const object = (labels: Record<string, string>, data: string) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels }, data },
  });
  assert.ok(sameObjects([object({}, '1')], [object({ 'helm.toolkit.fluxcd.io/name': 'web' }, '1')]));
  assert.ok(!sameObjects([object({}, '1')], [object({}, '2')]));
  assert.ok(!sameObjects([object({}, '1')], [object({ a: 'b' }, '1')]));
});
