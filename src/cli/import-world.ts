import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../api/index.ts';
import { isSameRepository } from '../compat/import/address.ts';
import type { Checkout, World } from '../compat/import/world.ts';
import { parseYaml } from '../render/yaml.ts';
import type { ImportFlags } from './import.ts';
import { wrong } from './release-of.ts';

/** What a translation may ask for: texts, and files of the checkouts that a person named. */
export async function importWorld({ sameRepository, checkout = [], out }: ImportFlags): Promise<World> {
  const { stringify } = await import('yaml');
  const checkouts: { url: string; folder: string }[] = [];
  for (const text of checkout) {
    const [, url, folder] = /^(.+?)=([^=]+)$/.exec(text) ?? [];
    if (url === undefined || folder === undefined) throw wrong(`--checkout ${text}: write it as <url>=<folder>`);
    const found = await stat(folder).catch(() => undefined);
    if (found?.isDirectory() !== true) throw wrong(`--checkout ${text}: there is no folder ${folder}`);
    checkouts.push({ url, folder });
  }
  if (sameRepository !== undefined) checkouts.push({ url: sameRepository, folder: out });
  return {
    ...(sameRepository === undefined ? {} : { sameRepository }),
    parseYaml: (text) => parseYaml(text, 'values').map(({ value }) => value as Json),
    printYaml: (value) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' }),
    checkout(url) {
      const found = checkouts.find((one) => isSameRepository(one.url, url));
      return found === undefined ? undefined : checkoutAt(found.folder);
    },
  };
}

/** A folder of a person's own machine. Links in it are passed over: they may lead anywhere. */
function checkoutAt(folder: string): Checkout {
  return {
    names(path) {
      const entries = orUndefined((): Dirent[] => readdirSync(join(folder, path), { withFileTypes: true }));
      return entries?.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
    },
    read(path) {
      const file = join(folder, path);
      return orUndefined(() => (lstatSync(file).isFile() ? readFileSync(file, 'utf8') : undefined));
    },
  };
}

function orUndefined<T>(look: () => T | undefined): T | undefined {
  try {
    return look();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
