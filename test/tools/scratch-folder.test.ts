import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { tempDir } from '../support/tempdir.ts';
import { type Child, child } from './support/child.ts';
import { until } from './support/until.ts';

const ENDINGS: Record<string, (child: Child) => void> = {
  'is interrupted': ({ process }) => process.kill('SIGINT'),
  'is killed': ({ process }) => process.kill('SIGKILL'),
  'exits because its reader has gone': ({ process }) => process.stdout?.destroy(),
};

describe('a scratch folder', { concurrency: 3 }, () => {
  for (const [ending, end] of Object.entries(ENDINGS))
    test(`goes with a process that ${ending}, whose programs still write into it`, async (t) => {
      const folder = join(await tempDir(t), ' a "b" $HOME\\');
      await mkdir(folder);
      const started = child(t, 'scratch.ts', folder);
      await until('it tells its folders', () => started.output().includes('\n'));
      const [used = '', removed = ''] = JSON.parse(started.output()) as string[];
      await until('its program writes', () => existsSync(join(used, 'home', 'file')));
      end(started);
      await until('the folder is gone', () => !existsSync(used));
      assert.deepEqual(await readdir(folder), [basename(removed)], 'what was removed before is not its own any more');
    });
});
