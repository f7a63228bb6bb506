import { dependenciesOf } from '../addons/chart-of.ts';
import { mapOf, namespaceOf } from '../addons/read-addon.ts';
import type { Json, JsonObject } from '../api/index.ts';
import { isTemplate } from '../render/addon-chart.ts';
import { isMap } from '../resolve/json-schema.ts';
import type { AddonFlags } from './addon.ts';
import { endWithFaults, openAddon, textsOf } from './addon-source.ts';
import { formatData } from './output.ts';
import { parameterRows } from './parameter-rows.ts';
import { print } from './print.ts';

/** What an add-on is, and the parameters that it takes. */
export async function showAddon(folder: string, { output }: AddonFlags): Promise<void> {
  const addon = await openAddon(folder);
  endWithFaults(folder, addon.faults);
  const namespace = namespaceOf(addon);
  const parameters = parameterRows(withDefaults(addon.schema ?? {}, addon.defaults));
  const described = new Set(parameters.map(({ name }) => name.split('.')[0]));
  const others = Object.entries(addon.defaults).filter(([name]) => !described.has(name));
  const document = {
    name: addon.name,
    ...(addon.class === undefined ? {} : { class: addon.class }),
    ...(namespace === undefined ? {} : { namespace: namespace.name }),
    ...(dependenciesOf(addon).length === 0 ? {} : { dependsOn: dependenciesOf(addon) }),
    parameters: [
      ...parameters.map(({ name, type, default: preset, allowed, description }) => ({
        ...{ name, type },
        ...(preset === '' ? {} : { default: JSON.parse(preset) as unknown }),
        ...(allowed === '' ? {} : { allowed }),
        ...(description === '' ? {} : { description }),
      })),
      ...others.map(([name, preset]) => ({ name, default: preset })),
    ],
    templates: textsOf(addon).map(({ path }) => path),
    files: addon.files.map(({ name }) => name).filter((name) => !isTemplate(name) && !name.endsWith('.tpl')),
  };
  print(await formatData(document, output === 'json' ? 'json' : 'yaml'));
}

/** A schema in which each parameter has the default that the add-on gives it. */
function withDefaults(schema: JsonObject, defaults: JsonObject): JsonObject {
  const properties = Object.entries(mapOf(schema.properties)).map(([name, given]): [string, Json] => {
    const value = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    if (value === undefined || !isMap(given)) return [name, given];
    const inner = mapOf(given.properties);
    const isTold = isMap(value) && Object.keys(value).every((field) => Object.hasOwn(inner, field));
    return [
      name,
      { ...withDefaults(given, mapOf(value)), ...(isTold && Object.keys(value).length > 0 ? {} : { default: value }) },
    ];
  });
  return { ...schema, ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }) };
}
