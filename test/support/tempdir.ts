import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

/** A fresh folder, removed with all its content when the test ends. */
export async function tempDir(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'espalier-test-'));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
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
