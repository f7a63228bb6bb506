import { readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { parseHelmignore } from '../charts/helmignore.ts';

/** Of some folders of charts the one that would hold from now on what is written to a destination. */
export async function chartAround(destination: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const inside = relative(resolve(folder), resolve(destination));
    if (inside === '..' || inside.startsWith(`..${sep}`)) continue;
    const text = await readFile(join(folder, '.helmignore'), 'utf8').catch(() => '');
    if (!isLeftOut(parseHelmignore(text), inside === '' ? [] : inside.split(sep))) return folder;
  }
  return undefined;
}

function isLeftOut(ignores: ReturnType<typeof parseHelmignore>, names: readonly string[]): boolean {
  const above = names.map((_, index) => names.slice(0, index + 1).join('/'));
  return above.some((folder) => ignores(folder, true)) || ignores([...names, 'chart-1.0.0.tgz'].join('/'), false);
}
