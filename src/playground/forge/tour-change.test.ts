import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { tourChange } from './tour-change.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', '..', 'examples', 'repo');

test('on the example the change has something new, a value that changes, and an object that goes', async () => {
  const read = (path: string) => readFile(join(EXAMPLE, path), 'utf8');
  const { files, what } = await tourChange(read);
  assert.equal(what.length, 3);
  const cache = files['plugins/session-cache.yaml'];
  assert.equal(cache, (await read('plugins/session-cache.yaml')).replace('replicas: 2', 'replicas: 3'));
  const plans = parseAllDocuments(String(files['apps/backup-plans/plans.yaml'])).map((one) => one.toJS());
  assert.deepEqual(
    plans.map(({ metadata }) => metadata.name),
    ['nightly'],
  );
  for (const file of Object.values(files))
    for (const document of parseAllDocuments(String(file))) assert.deepEqual(document.errors, []);
});

test('of another repository nothing is changed: only the new plugin comes to it', async () => {
  const { files, what } = await tourChange(async (path) =>
    path.startsWith('plugins/') ? 'kind: Plugin\n' : undefined,
  );
  assert.deepEqual(Object.keys(files), ['plugins/notice-board.yaml', 'apps/notice-board/deployment.yaml']);
  assert.equal(what.length, 1);
});
