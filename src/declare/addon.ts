import { API_VERSION, type Json, type JsonObject, LABEL, validateObject } from '../api/index.ts';
import { parameterDefaults } from '../resolve/parameters.ts';
import { mergeValues } from '../resolve/values.ts';
import { addonFaults, firstOf, given, parameterPlaces } from './addon-faults.ts';
import type { Part } from './drafts.ts';
import type { Place } from './fault.ts';
import { isMap } from './merge.ts';
import type { ParsedDeclaration } from './parse.ts';
import type { LocatedPlace } from './yaml-text.ts';

/**
 * The Plugin that a folder `manifests/<addon>/` stands for: templated manifests with everything beside them. It takes
 * the folder's name unless addon.yaml gives another.
 */
export function compileAddon(folder: string, addon?: { file: string; document: ParsedDeclaration }): Part {
  const settings = addon?.document.value ?? {};
  const { name = folder.slice(folder.lastIndexOf('/') + 1), namespace, schema } = settings;
  const dependsOn = settings.dependsOn ?? settings.dependencies;
  const defaults = defaultsOf(settings);
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
      ...(given(defaults) ? { defaults } : {}),
      ...(given(schema) ? { schema } : {}),
      ...(given(dependsOn) ? { dependsOn: dependencies(dependsOn) } : {}),
    },
  };
  if (addon === undefined) {
    return { file: folder, line: 1, column: 1, value, faults: [], locate: () => ({ line: 1, column: 1, exact: true }) };
  }
  const { document, file } = addon;
  const locate = (pointer: string): LocatedPlace => firstOf(document.locate, inAddonFile(pointer, settings));
  const faults = [...document.faults, ...addonFaults(document)];
  // A Plugin with faults is not looked at any further, and all that is wrong is to be told at once.
  const rest =
    faults.length === 0 ? [] : validateObject(value).map((one) => ({ ...one, ...placeOf(locate(one.path)) }));
  const isTold = ({ line }: Place): boolean => faults.some((fault) => fault.line === line);
  return { ...document, file, value, faults: [...faults, ...rest.filter((one) => !isTold(one))], locate };
}

function placeOf({ line, column }: Place): Place {
  return { line, column };
}

/** What its templates get where nothing else is said: the parameters, over what the schema says of each. */
export function defaultsOf({ parameters, schema }: JsonObject): Json | undefined {
  if (!isMap(schema) || (given(parameters) && !isMap(parameters))) return parameters;
  const merged = mergeValues(parameterDefaults(schema), isMap(parameters) ? parameters : {});
  return Object.keys(merged).length === 0 ? parameters : merged;
}

/** A bare name is that of a Plugin. */
function dependencies(value: Json): Json {
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? { name: item } : item)) : value;
}

/** Where addon.yaml may say what a field of the Plugin holds, the likeliest first. */
function inAddonFile(pointer: string, settings: JsonObject): string[] {
  const [, top, field, ...rest] = pointer.split('/');
  const tail = rest.map((step) => `/${step}`).join('');
  if (top === 'metadata') return [field === 'labels' ? '/class' : `/${field ?? ''}`];
  if (top !== 'spec') return [''];
  if (field === 'defaults') return parameterPlaces(tail);
  if (field === 'dependsOn') return [`/${given(settings.dependsOn) ? 'dependsOn' : 'dependencies'}${tail}`];
  return field === 'namespace' || field === 'schema' ? [`/${field}${tail}`] : [''];
}
