import { isUtf8 } from 'node:buffer';
import type { Json } from '../api/index.ts';
import { PACKAGE_FILE } from '../declare/layout.ts';
import { escapeStep } from '../declare/pointer.ts';
import { parseYaml, type YamlDocument } from '../declare/yaml-text.ts';
import { faultOf, MOST_FAULTS, type PackageFault } from './fault.ts';

export { PACKAGE_FILE as EXPANSION_FILE };

const LISTS = [
  'charts',
  'images',
  'files',
  'hooks',
  'provider',
  'installer_skip_steps',
  'create_cluster_skip_conditions',
  'create_cluster_delegate_conditions',
] as const;
const TEXTS = ['expansion_name', 'expansion_version', 'operator'] as const;
const FLAGS = ['images_loaded', 'disable_pass_through_to_platform'] as const;

export type ListField = (typeof LISTS)[number];

/** `expansion.yaml`, every list there. Names are absent in the short form. */
export type Expansion = { [K in (typeof TEXTS)[number]]?: string } & { values: { [key: string]: Json } } & Record<
    ListField,
    string[]
  > &
  Record<(typeof FLAGS)[number], boolean>;

export interface ReadExpansion {
  expansion: Expansion;
  faults: PackageFault[];
  /** False where nothing could be made out of the text: what is listed is not known then. */
  isReadable: boolean;
  /** Where an item of a list, or a field, stands. */
  at(field: string, index?: number): { line: number; column: number };
}

const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const VERSION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export function emptyExpansion(): Expansion {
  const lists = Object.fromEntries(LISTS.map((field) => [field, [] as string[]])) as Record<ListField, string[]>;
  return { ...lists, values: {}, images_loaded: false, disable_pass_through_to_platform: false };
}

/** Never throws for a text, however broken. What is wrong is left out of the expansion and is among the faults. */
export function readExpansion(source: string | Uint8Array): ReadExpansion {
  const expansion = emptyExpansion();
  const text = typeof source === 'string' ? source : Buffer.from(source).toString('utf8');
  const unreadable = (fault: PackageFault): ReadExpansion => ({
    ...{ expansion, faults: [fault], isReadable: false },
    at: () => START,
  });
  if (typeof source !== 'string' && !isUtf8(source)) return unreadable(notUtf8(text));
  const { documents, broken } = parseYaml(text);
  const [document] = documents;
  const at: ReadExpansion['at'] = (field, index) => {
    const { line, column } =
      document?.locate(`/${escapeStep(field)}${index === undefined ? '' : `/${index}`}`) ?? START;
    return { line, column };
  };
  if (broken !== undefined) return unreadable({ ...broken, file: PACKAGE_FILE });
  if (document === undefined) return unreadable(faultOf(PACKAGE_FILE, 'is empty: list the materials'));
  const faults: PackageFault[] = document.faults.map(({ line, column, message }) => ({
    file: PACKAGE_FILE,
    line,
    column,
    message,
  }));
  if (documents.length > 1) faults.push(faultOf(PACKAGE_FILE, 'holds more than one document: keep one'));
  const filled = fill(expansion, document, at);
  return { expansion, at, faults: [...faults, ...filled.faults], isReadable: filled.isMapping };
}

function notUtf8(text: string): PackageFault {
  const before = text.slice(0, Math.max(text.indexOf('\ufffd'), 0)).split('\n');
  const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  return { file: PACKAGE_FILE, ...place, message: 'is not UTF-8: save it in that encoding' };
}

const START = { line: 1, column: 1 };

function fill(
  expansion: Expansion,
  { value }: YamlDocument,
  at: ReadExpansion['at'],
): { faults: PackageFault[]; isMapping: boolean } {
  if (!isMap(value))
    return {
      faults: [faultOf(PACKAGE_FILE, 'is no mapping: write fields such as charts: [demo-0.1.0.tgz]')],
      isMapping: false,
    };
  const faults: PackageFault[] = [];
  const fault = (message: string, field: string, index?: number): void => {
    if (faults.length <= MOST_FAULTS) faults.push({ file: PACKAGE_FILE, ...at(field, index), message });
  };
  for (const [field, found] of Object.entries(value)) {
    if (found === null) continue;
    if (isOne(LISTS, field)) {
      if (!Array.isArray(found)) fault(`${field} is no list: write ${field}: [a, b]`, field);
      else expansion[field] = textsOf(found, field, fault);
    } else if (isOne(TEXTS, field)) {
      if (typeof found === 'string') expansion[field] = found;
      else fault(`${field} is no text: put it into quotes`, field);
    } else if (isOne(FLAGS, field)) {
      if (typeof found === 'boolean') expansion[field] = found;
      else fault(`${field} is neither true nor false: write one of them`, field);
    } else if (field === 'values') {
      if (isMap(found)) expansion.values = found;
      else fault('values is no mapping: write values: {key: value}', field);
    } else fault(`${field.slice(0, 100)} is no field of an expansion: remove it, or correct its name`, field);
  }
  const { expansion_name: name, expansion_version: version } = expansion;
  if (name !== undefined && !NAME.test(name))
    fault('expansion_name must be lower case letters, digits and -, at most 63: rename it', 'expansion_name');
  if (version !== undefined && !VERSION.test(version))
    fault('expansion_version must be letters, digits, dots, _ and -, such as v1.0: change it', 'expansion_version');
  return { faults, isMapping: true };
}

/** What is no text, or is there already, becomes '' so that places stay the same. */
function textsOf(
  found: Json[],
  field: ListField,
  fault: (message: string, field: string, index: number) => void,
): string[] {
  const seen = new Set<string>();
  return found.map((item, index) => {
    if (typeof item !== 'string' || item === '') {
      fault(`${field} holds what is no text: put it into quotes, or remove it`, field, index);
      return '';
    }
    if (seen.has(item)) {
      fault(`${field} lists ${JSON.stringify(item.slice(0, 200))} twice: remove one`, field, index);
      return '';
    }
    seen.add(item);
    return item;
  });
}

function isMap(value: Json): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOne<T extends string>(all: readonly T[], field: string): field is T {
  return all.some((one) => one === field);
}
