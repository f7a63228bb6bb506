import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../src/tools/errno.ts';

/** The test files of a run, which several processes take one by one. It is a folder with an empty file for each event. */
export interface Queue {
  files: readonly string[];
  /** The next file that nobody took. */
  take(): string | undefined;
  /** Every test of the file has ended, well or not. */
  end(file: string): void;
  /** Those that did not end. */
  missed(): string[];
}

/** `files` makes a new one, in an empty folder. */
export function openQueue(folder: string, files?: readonly string[]): Queue {
  const list = join(folder, 'files.json');
  if (files !== undefined) writeFileSync(list, JSON.stringify(files));
  const all: string[] = [...(files ?? JSON.parse(readFileSync(list, 'utf8')))];
  const mark = (name: string): string => join(folder, name);
  let next = 0;
  return {
    files: all,
    take() {
      while (next < all.length) {
        const index = next++;
        if (isFirst(mark(`taken-${index}`))) return all[index];
      }
      return undefined;
    },
    end(file) {
      isFirst(mark(`ended-${all.indexOf(file)}`));
    },
    missed: () => all.filter((_, index) => !existsSync(mark(`ended-${index}`))),
  };
}

function isFirst(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}
