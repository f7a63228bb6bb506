import { API_VERSION, type Json, type JsonObject, LABEL } from '../api/index.ts';
import type { Part } from './drafts.ts';
import type { TextFault } from './fault.ts';
import type { ParsedDeclaration } from './parse.ts';
import { escapeStep } from './pointer.ts';

const FIELDS = ['name', 'namespace', 'parameters', 'dependsOn', 'class'];

/**
 * The Plugin that a folder `manifests/<addon>/` stands for: templated manifests with everything beside them. It takes
 * the folder's name unless addon.yaml gives another.
 */
export function compileAddon(folder: string, addon?: { file: string; document: ParsedDeclaration }): Part {
  const settings = addon?.document.value ?? {};
  const { name = folder.slice(folder.lastIndexOf('/') + 1), namespace, parameters, dependsOn } = settings;
  const value: JsonObject = {
    apiVersion: API_VERSION,
    kind: 'Plugin',
    metadata: { name, ...(given(settings.class) ? { labels: { [LABEL.class]: settings.class } } : {}) },
    spec: {
      kind: 'manifests',
      source: { git: { path: folder, template: true } },
      ...(given(namespace)
        ? { namespace: typeof namespace === 'string' ? { name: namespace, create: true } : namespace }
        : {}),
      ...(given(parameters) ? { defaults: parameters } : {}),
      ...(given(dependsOn) ? { dependsOn: dependencies(dependsOn) } : {}),
    },
  };
  if (addon === undefined) {
    return { file: folder, line: 1, column: 1, value, faults: [], locate: () => ({ line: 1, column: 1, exact: true }) };
  }
  const { document, file } = addon;
  return {
    ...document,
    file,
    value,
    faults: [...document.faults, ...unknownFields(document)],
    locate: (pointer) => document.locate(inAddonFile(pointer)),
  };
}

function given(value: Json | undefined): value is Json {
  return value !== undefined && value !== null;
}

/** A bare name is that of a Plugin. */
function dependencies(value: Json): Json {
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? { name: item } : item)) : value;
}

function unknownFields(document: ParsedDeclaration): TextFault[] {
  const expected = `one of ${FIELDS.join(', ')}`;
  return Object.keys(document.value)
    .filter((field) => !FIELDS.includes(field))
    .map((field) => {
      const path = `/${escapeStep(field)}`;
      const { line, column } = document.locate(path);
      return {
        line,
        column,
        path,
        message: `addon.yaml has no field ${JSON.stringify(field)}, expected ${expected}`,
        expected,
      };
    });
}

/** Where addon.yaml says what a field of the Plugin holds. */
function inAddonFile(pointer: string): string {
  const [, top, field, ...rest] = pointer.split('/');
  const tail = rest.map((step) => `/${step}`).join('');
  if (top === 'metadata') return field === 'labels' ? '/class' : `/${field ?? ''}`;
  if (top === 'spec' && field === 'defaults') return `/parameters${tail}`;
  if (top === 'spec' && (field === 'namespace' || field === 'dependsOn')) return `/${field}${tail}`;
  return '';
}
