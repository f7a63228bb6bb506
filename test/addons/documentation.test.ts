import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { chartsCommand } from '../../src/cli/charts.ts';
import { startRegistry } from '../charts/support/registry.ts';
import { espalier } from '../cli/support/espalier.ts';
import { blocksOf } from '../declare/documentation.ts';
import { writeFiles } from '../mirror/support/platform.ts';
import { tempDir } from '../support/tempdir.ts';

const page = readFileSync(new URL('../../docs/addons.md', import.meta.url), 'utf8');
const blocks = blocksOf(page);
const REGISTRY = 'registry.example.com';

test('every file and command of docs/addons.md does what the page says', async (t) => {
  const dir = await tempDir(t);
  const written = blocks.filter(({ file, mark }) => file !== undefined && mark !== 'ported');
  await writeFiles(dir, Object.fromEntries(written.map(({ file, text }) => [file ?? '', text])));
  await writeFiles(dir, { 'manifests/bad/a.yaml': 'a: 1\n' });
  const registry = await startRegistry(await tempDir(t));
  t.after(() => registry.stop());
  const commands = blocks.filter(({ language }) => language === 'console').flatMap(({ text }) => text.split(/^\$ /m));
  for (const one of commands.filter((text) => text !== '')) {
    const [line = '', ...said] = one.trimEnd().split('\n');
    const args = line
      .replace('espalier ', '')
      .split(' ')
      .map((word, index) => (index < 2 ? word : placed(word, dir, registry.host)));
    const here = line.includes('--to') ? ['--insecure-registry', registry.host] : [];
    const { stdout, stderr } = await espalier([...args, ...here]);
    const shown = asOnThePage(`${stdout}${stderr}`, dir, registry.host);
    assert.equal(shown.trimEnd(), said.join('\n'), line);
  }
  for (const { file, text } of blocks.filter(({ mark }) => mark === 'ported'))
    assert.equal(await readFile(join(dir, file ?? ''), 'utf8'), text);
  await rm(join(dir, 'manifests', 'bad'), { recursive: true });
  const { code, stdout } = await espalier(['validate', dir]);
  // What it depends on is not on the page.
  assert.deepEqual([code, stdout.trimEnd().split('\n').length], [1, 1]);
  assert.match(stdout, /addon\.yaml:4:\d+: .*network, which nothing declares/);
});

test('every option in the table of docs/addons.md is one', () => {
  const known = chartsCommand().commands[0]?.helpInformation() ?? '';
  const named = [...page.matchAll(/^\| (`-.*`) \|/gm)].flatMap(([, cell = '']) => cell.match(/--?[a-z-]+/g) ?? []);
  assert.ok(named.length > 7);
  for (const option of named) assert.ok(known.includes(option), option);
});

/** The page is written as from the root of a repository. */
function placed(word: string, dir: string, host: string): string {
  if (word.includes('://')) return word.replace(REGISTRY, host);
  return /^(manifests|charts|dist)\b/.test(word) ? join(dir, word) : word;
}

function asOnThePage(text: string, dir: string, host: string): string {
  return (
    text
      // The relative path first: it may end in the absolute one.
      .replaceAll(`${relative('.', dir)}/`, '')
      .replaceAll(`${dir}/`, '')
      .replaceAll(host, REGISTRY)
  );
}
