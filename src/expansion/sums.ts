import { faultOf, type PackageFault } from './fault.ts';

/** As `sha256sum` writes it, so that `sha256sum -c` can check an unpacked package. */
export const SUMS_FILE = 'SHA256SUMS';

const CURE = `fetch the package again, or, where you changed it, delete ${SUMS_FILE} and build it again`;

type Files = ReadonlyMap<string, { sha256: string }>;

export function writeSums(files: Files): string {
  return [...files]
    .filter(([path]) => path !== SUMS_FILE)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, { sha256 }]) => `${sha256}  ${path}\n`)
    .join('');
}

export function verifySums(text: string, files: Files): PackageFault[] {
  const faults: PackageFault[] = [];
  const named = new Set<string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const fault = (message: string): void => {
      faults.push({ file: SUMS_FILE, line: index + 1, column: 1, message: `${message}; ${CURE}` });
    };
    const [, sum, path] = /^([0-9a-f]{64}) [ *](.+)$/.exec(line) ?? [];
    if (path === undefined) {
      fault('this is no checksum with a path');
      continue;
    }
    named.add(path);
    const found = files.get(path);
    if (found === undefined) fault(`${path} is missing`);
    else if (found.sha256 !== '' && found.sha256 !== sum)
      fault(`${path} is not what was built: its SHA-256 is ${found.sha256}`);
  }
  for (const path of files.keys())
    if (path !== SUMS_FILE && !named.has(path)) faults.push(faultOf(SUMS_FILE, `lacks ${path}; ${CURE}`));
  return faults;
}
