import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { openScratchFolder } from '../../src/tools/scratch-folder.ts';

/** A fresh folder, removed with all its content when the test ends, or the run is killed. */
export async function tempDir(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = openScratchFolder('espalier-test-');
  t.after(() => folder.remove());
  return folder.path;
}

/** The same, with these files in it. */
export async function writeFolder(
  t: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  const folder = await tempDir(t);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}
