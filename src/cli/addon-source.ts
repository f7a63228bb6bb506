import { readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type ParameterSet, parameterSets } from '../addons/parameter-sets.ts';
import { type Addon, type AddonFault, readAddon } from '../addons/read-addon.ts';
import { EspalierError, type JsonObject, messageOf } from '../api/index.ts';
import { parseValues } from '../declare/values-text.ts';
import { folderTree } from '../git/foldertree.ts';
import { isTemplate } from '../render/addon-chart.ts';
import { valueViolations } from '../resolve/template-values.ts';
import { mergeValues } from '../resolve/values.ts';
import { ExitCode } from './exit.ts';
import { print, say } from './print.ts';

/** Reads the folder of an add-on that somebody names. */
export async function openAddon(folder: string): Promise<Addon> {
  await mustBeFolder(folder);
  return await readAddon(folderTree(folder), basename(resolve(folder)));
}

export async function mustBeFolder(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw wrong(`${folder} ${found === undefined ? 'does not exist' : 'is not a folder'}`);
}

/** What to try it with: sets made from its schema and defaults, and the files that somebody names. */
export async function setsFor(addon: Addon, files: readonly string[]): Promise<ParameterSet[]> {
  const given = await Promise.all(files.map(async (file) => ({ title: file, values: await readValues(file) })));
  const named = given.map(({ title, values }) => ({
    title,
    values: mergeValues(addon.defaults, values),
    isGuess: false,
  }));
  for (const { title, values } of named) {
    const faults = addon.schema === undefined ? [] : valueViolations(addon.schema, values);
    if (faults.length > 0) throw wrong(`${title}: ${faults.map(({ message }) => message).join('; ')}`);
  }
  const made = parameterSets(addon.defaults, addon.schema);
  if (made.length === 0 && named.length === 0)
    throw wrong(`${requiredOf(addon)} required, and without a default: give values with --values <file>`);
  return [...made, ...named];
}

function requiredOf({ schema, defaults }: Addon): string {
  const required = Array.isArray(schema?.required) ? schema.required.map(String) : [];
  const missing = required.filter((name) => !Object.hasOwn(defaults, name));
  return missing.length === 1 ? `the parameter ${missing[0]} is` : `the parameters ${missing.join(', ')} are`;
}

/** Its templates, and what they define. */
export function textsOf({ files }: Addon) {
  return files
    .filter(({ name }) => isTemplate(name) || name.endsWith('.tpl'))
    .map(({ name, content }) => ({ path: name, text: Buffer.from(content).toString('utf8') }));
}

async function readValues(file: string): Promise<JsonObject> {
  try {
    return parseValues(await readFile(file, 'utf8'));
  } catch (error) {
    throw wrong(`${file}: ${messageOf(error)}`);
  }
}

/** Faults with the path as seen from here, so that editors can open it. Ends the command when there are any. */
export function endWithFaults(folder: string, faults: readonly AddonFault[]): void {
  if (faults.length === 0) return;
  for (const fault of faults) print(lineOf(folder, fault));
  say(`${faults.length} fault${faults.length === 1 ? '' : 's'}`);
  throw new ExitCode(1);
}

export function lineOf(folder: string, { file, line, column, message }: AddonFault): string {
  return `${join(folder, file)}:${line}:${column}: ${message}`;
}

export function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
