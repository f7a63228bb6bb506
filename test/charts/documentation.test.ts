import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { type PluginDeclaration, validateObject } from '../../src/api/index.ts';
import { DEFAULT_LIMITS } from '../../src/charts/limits.ts';
import { rangeFault } from '../../src/resolve/range.ts';
import { blocksOf } from '../declare/documentation.ts';

const page = readFileSync(new URL('../../docs/charts.md', import.meta.url), 'utf8');
const downloads = readFileSync(new URL('../../docs/downloads.md', import.meta.url), 'utf8');
const codes = readFileSync(new URL('../../src/api/errors.ts', import.meta.url), 'utf8');
const MiB = 1024 * 1024;

function examplesOf(text: string): PluginDeclaration[] {
  return blocksOf(text)
    .filter(({ language }) => language === 'yaml')
    .map((block) => parse(block.text) as PluginDeclaration);
}

describe('docs/charts.md', () => {
  for (const example of examplesOf(page)) {
    test(`the example ${example.metadata.name} is valid`, () => assert.deepEqual(validateObject(example), []));
  }

  test('every range that it shows is one', () => {
    const [, line = ''] = /as Helm writes them: (.*?)\. The highest/.exec(page) ?? [];
    const ranges = [...line.matchAll(/`([^`]+)`/g)].map(([, range = '']) => range);
    assert.equal(ranges.length, 7);
    assert.deepEqual(
      ranges.flatMap((range) => rangeFault(range) ?? []),
      [],
    );
  });

  test('says the limits that there are, and explains every reason', () => {
    const { archiveBytes, unpackedBytes, fileBytes, ratio, files, indexBytes } = DEFAULT_LIMITS;
    for (const words of [
      `more than ${archiveBytes / MiB} MiB, more than ${unpackedBytes / MiB} MiB unpacked`,
      `more than ${ratio} times`,
      `more than ${files.toLocaleString('en')} files or one of more than ${fileBytes / MiB} MiB`,
      `An index may have ${indexBytes / MiB} MB`,
    ]) {
      assert.ok(page.includes(words), words);
    }
    for (const [, code] of codes.matchAll(/'(Chart\w+)'/g)) assert.match(page, new RegExp(`^\\| \`${code}\` \\|`, 'm'));
  });
});

describe('docs/downloads.md', () => {
  for (const example of examplesOf(downloads)) {
    test(`the example ${example.metadata.name} is valid`, () => assert.deepEqual(validateObject(example), []));
  }

  test('says the limits that there are, and explains every reason', () => {
    const { archiveBytes, folderBytes, ratio, files } = DEFAULT_LIMITS;
    for (const words of [
      `More than ${archiveBytes / MiB} MiB; of a folder more than ${folderBytes / MiB} MiB unpacked`,
      `more than ${ratio} times as large`,
      `more than ${files.toLocaleString('en')} files`,
    ]) {
      assert.ok(downloads.includes(words), words);
    }
    for (const [, code] of codes.matchAll(/'(Download\w+)'/g))
      assert.match(downloads, new RegExp(`^\\| \`${code}\` \\|`, 'm'));
  });
});
