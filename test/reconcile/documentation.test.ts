import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { type PluginDeclaration, validateObject } from '../../src/api/index.ts';
import { PLUGIN_PHASES } from '../../src/api/kinds/plugin-status.ts';
import { celFault } from '../../src/cluster/celhealth.ts';
import { parsePointer } from '../../src/plan/pointer.ts';
import { windowOpen } from '../../src/runtime/cron.ts';
import { blocksOf } from '../declare/documentation.ts';

const page = readFileSync(new URL('../../docs/converge.md', import.meta.url), 'utf8');
const examples = blocksOf(page)
  .filter(({ language }) => language === 'yaml')
  .map(({ text }) => parse(text) as PluginDeclaration)
  .filter(({ kind }) => kind === 'Plugin');

describe('docs/converge.md', () => {
  for (const example of examples) {
    test(`the example ${example.metadata.name} is valid, expressions, windows and pointers included`, () => {
      assert.deepEqual(validateObject(example), []);
      const { dependsOn = [], health = [], drift, when } = example.spec;
      const expressions = [...dependsOn, ...health].flatMap(({ ready }) => ready ?? []);
      assert.deepEqual(
        expressions.map(celFault),
        expressions.map(() => undefined),
      );
      for (const { paths } of drift?.ignore ?? []) for (const path of paths) assert.ok(parsePointer(path).length > 0);
      if (when?.window !== undefined) assert.ok('open' in windowOpen(when.window, Date.now()));
    });
  }

  test('explains every phase, and every mode of drift', () => {
    for (const phase of PLUGIN_PHASES.filter((one) => one !== 'Pending'))
      assert.match(page, new RegExp(`^\\| \`${phase}\` \\|`, 'm'));
    for (const mode of ['repair', 'report', 'ignore']) assert.match(page, new RegExp(`^\\| \`${mode}\``, 'm'));
  });
});
