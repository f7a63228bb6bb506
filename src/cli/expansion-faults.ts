import { join } from 'node:path';
import type { PackageFault } from '../expansion/fault.ts';
import { plain } from '../plan/plain.ts';
import { isInRegistry } from './expansion-place.ts';
import { print } from './print.ts';

/** Of a folder as seen from here, so that editors can open it; of an archive as they are in it. */
export function printFaults(path: string, faults: readonly PackageFault[]): void {
  const inside =
    path.endsWith('gz') || path.endsWith('.tar') || isInRegistry(path)
      ? (file: string) => (file === '.' ? path : file)
      : (file: string) => join(path, file);
  for (const { file, line, column, message } of faults) print(plain(`${inside(file)}:${line}:${column}: ${message}`));
}
