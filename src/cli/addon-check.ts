import { join } from 'node:path';
import { dependenciesOf } from '../addons/chart-of.ts';
import { kindOf } from '../addons/kinds.ts';
import { portTemplates } from '../addons/port-templates.ts';
import { renderAddon } from '../addons/prove.ts';
import { type Addon, namespaceOf } from '../addons/read-addon.ts';
import { describeRef, isError, refOf } from '../api/index.ts';
import { isTemplate } from '../render/addon-chart.ts';
import type { AddonFlags } from './addon.ts';
import { endWithFaults, openAddon, setsFor } from './addon-source.ts';
import { ExitCode } from './exit.ts';
import { formatData } from './output.ts';
import { parameterRows } from './parameter-rows.ts';
import { print, say } from './print.ts';

/** Everything that is wrong: of addon.yaml, and of the templates when they are rendered. */
export async function checkAddon(folder: string, { output, values }: AddonFlags): Promise<void> {
  const addon = await openAddon(folder);
  const faults: string[] = [];
  const kinds = new Set<string>();
  if (addon.faults.length === 0) {
    for (const set of await setsFor(addon, values ?? []))
      try {
        for (const object of await renderAddon(addon, set)) kinds.add(describeRef(refOf(object)));
      } catch (error) {
        if (!isError(error)) throw error;
        const message = error.message.replace(/^rendering \.: /, '');
        // The same fault comes with other values too.
        if (!faults.some((one) => one.startsWith(message))) faults.push(`${message} (with ${set.title})`);
      }
  }
  const document = {
    faults: [...addon.faults, ...faults.map((message) => ({ file: '.', line: 1, column: 1, message }))],
  };
  if (output === 'json' || output === 'yaml') {
    print(await formatData(document, output));
    if (document.faults.length > 0) throw new ExitCode(1);
    return;
  }
  for (const note of unknownNames(addon))
    say(`note: ${join(folder, note)} is no parameter of it: it must come from the Sync's values`);
  for (const fault of faults) print(`${folder}: ${fault}`);
  endWithFaults(folder, addon.faults);
  if (faults.length > 0) throw new ExitCode(1);
  say(`${kinds.size} object${kinds.size === 1 ? '' : 's'}, no faults`);
}

/** What templates ask for and nothing declares. */
function unknownNames(addon: Addon): string[] {
  const ported = portTemplates(textsOf(addon), kindOf(addon.schema, addon.defaults));
  const properties = addon.schema?.properties;
  const known = [
    ...Object.keys(addon.defaults),
    ...Object.keys(typeof properties === 'object' ? (properties ?? {}) : {}),
  ];
  return 'used' in ported ? [...ported.used].flatMap(([name, place]) => (known.includes(name) ? [] : [place])) : [];
}

function textsOf({ files }: Addon) {
  return files
    .filter(({ name }) => isTemplate(name) || name.endsWith('.tpl'))
    .map(({ name, content }) => ({ path: name, text: Buffer.from(content).toString('utf8') }));
}

export async function showAddon(folder: string, { output }: AddonFlags): Promise<void> {
  const addon = await openAddon(folder);
  endWithFaults(folder, addon.faults);
  const namespace = namespaceOf(addon);
  const parameters = parameterRows(addon.schema);
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
