import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EspalierError, type Json, validateObject } from '../api/index.ts';
import type { Imported } from '../compat/import/imported.ts';
import { type ImportFrom, importPage } from '../compat/import/page.ts';
import { listed } from './find.ts';
import type { ImportFlags } from './import.ts';

/** Before anything is asked: a folder with files in it needs a word of consent. */
export async function mustBeWritable({ out, force, sameRepository }: ImportFlags): Promise<void> {
  const found = await stat(out).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isDirectory()) throw refusal(`--out ${out} is a file; name a folder`);
  if (force === true || sameRepository !== undefined) return;
  if ((await readdir(out)).some((name) => name !== '.git'))
    throw refusal(`--out ${out} is not empty; name a new folder, or add --force to write over files of the same name`);
}

/** Writes the Plugins that are valid, the files beside them, and IMPORT.md. Those that are not become entries of the list. */
export async function writeImport(
  from: ImportFrom,
  imported: Imported,
  { out, force, sameRepository }: ImportFlags,
  printYaml: (value: Json) => string,
): Promise<void> {
  refuseInvalid(imported);
  const files = new Map(imported.files);
  for (const plugin of imported.plugins) {
    const { name, namespace = '' } = plugin.metadata;
    const origin = imported.origins.get(`${namespace}/${name}`);
    files.set(`plugins/${namespace}/${name}.yaml`, `# It was ${origin}.\n${printYaml(plugin as unknown as Json)}`);
  }
  // What nobody encrypted yet shall not get into a commit by accident.
  if ([...files.keys()].some((path) => path.startsWith('secrets/'))) files.set('secrets/.gitignore', '*\n');
  files.set('IMPORT.md', importPage(from, imported, sameRepository));
  if (force !== true) await refuseExisting(out, [...files.keys()]);
  for (const [path, content] of files) {
    const file = join(out, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, {
      flag: force === true ? 'w' : 'wx',
      mode: path.startsWith('secrets/') ? 0o600 : 0o644,
    });
  }
}

function refuseInvalid(imported: Imported): void {
  const invalid = imported.plugins.flatMap((plugin) => {
    const faults = validateObject(plugin).map(
      ({ path, message }) => `${path.slice(1).replaceAll('/', '.')} ${message}`,
    );
    return faults.length === 0 ? [] : [{ plugin, faults }];
  });
  for (const { plugin, faults } of invalid) {
    imported.plugins.splice(imported.plugins.indexOf(plugin), 1);
    const key = `${plugin.metadata.namespace}/${plugin.metadata.name}`;
    const object = imported.origins.get(key) ?? key;
    imported.left.push({ object, field: '', why: `its Plugin would not be valid: ${faults.join('; ')}` });
  }
}

async function refuseExisting(out: string, paths: readonly string[]): Promise<void> {
  const found = await Promise.all(paths.map(async (path) => ((await isThere(join(out, path))) ? [path] : [])));
  const there = found.flat();
  if (there.length > 0) throw refusal(`--out ${out} has ${listed(there)} already; add --force to write over them`);
}

async function isThere(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}

function refusal(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
