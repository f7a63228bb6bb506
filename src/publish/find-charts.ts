import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError } from '../api/index.ts';

const MAX_DEPTH = 16;
const MOST_CHARTS = 1000;

/**
 * The folders of a tree that are charts, from the tree and in order. What is in a chart's own folder belongs to it: charts/
 * of a chart are vendored. Hidden folders, node_modules and links are passed over.
 */
export async function findCharts(root: string): Promise<string[]> {
  const found: string[] = [];
  const look = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    if (entries.some((entry) => entry.isFile() && entry.name === 'Chart.yaml')) {
      found.push(folder === '' ? '.' : folder);
      if (found.length > MOST_CHARTS) throw tooMuch(`more than ${MOST_CHARTS} charts`);
      return;
    }
    if (depth >= MAX_DEPTH) throw tooMuch(`folders deeper than ${MAX_DEPTH} (${folder})`);
    for (const { name } of entries.filter((entry) => entry.isDirectory() && !isPassedOver(entry.name)))
      await look(folder === '' ? name : `${folder}/${name}`, depth + 1);
  };
  await look('', 0);
  return found.sort();
}

function isPassedOver(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules';
}

function tooMuch(what: string): EspalierError {
  return new EspalierError('InvalidConfiguration', `The tree has ${what}: name a smaller folder.`, { retry: false });
}
