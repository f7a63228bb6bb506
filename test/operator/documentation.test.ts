import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { type KubeObject, readDelegation, reportedOn } from '../../src/api/index.ts';
import { blocksOf } from '../declare/documentation.ts';

const root = new URL('../../', import.meta.url);
const blocks = blocksOf(readFileSync(new URL('docs/operator-sdk.md', root), 'utf8'));

function block(language: string): string {
  return blocks.find((one) => one.language === language)?.text ?? '';
}

describe('docs/operator-sdk.md', () => {
  test('shows the example that the tests run', async () => {
    const example = await readFile(new URL('examples/operator/operator.ts', root), 'utf8');
    assert.equal(block('ts').trim(), `// examples/operator/operator.ts\n${example.trim()}`);
  });

  test('shows a record that reads as what it says', () => {
    const record = parse(block('yaml')) as KubeObject;
    assert.deepEqual(readDelegation(record)?.conditions, ['EnsureKubelet']);
    assert.equal(reportedOn(record, 'EnsureKubelet')?.status, 'True');
  });
});
