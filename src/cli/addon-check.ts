import { join } from 'node:path';
import { placedFault } from '../addons/fault-place.ts';
import { kindOf } from '../addons/kinds.ts';
import type { ParameterSet } from '../addons/parameter-sets.ts';
import { portTemplates } from '../addons/port-templates.ts';
import { brokenLine } from '../addons/printed-line.ts';
import { renderAddon } from '../addons/prove.ts';
import type { Addon, AddonFault } from '../addons/read-addon.ts';
import { describeRef, isError, refOf } from '../api/index.ts';
import { shorten } from '../api/one-line.ts';
import { placeInChart } from '../render/addon-chart.ts';
import { REAL_TOOLS } from '../render/render.ts';
import type { AddonFlags } from './addon.ts';
import { endWithFaults, lineOf, openAddon, setsFor, textsOf } from './addon-source.ts';
import { ExitCode } from './exit.ts';
import { formatData } from './output.ts';
import { print, say } from './print.ts';

const LONGEST_LINE = 120;

/** Everything that is wrong: of addon.yaml, and of the templates when they are rendered. */
export async function checkAddon(folder: string, { output, values }: AddonFlags): Promise<void> {
  const addon = await openAddon(folder);
  const { faults, doubts, objects } =
    addon.faults.length === 0
      ? await tryOut(addon, await setsFor(addon, values ?? []))
      : { ...NOTHING, faults: addon.faults };
  if (output === 'json' || output === 'yaml') {
    print(await formatData({ faults }, output));
    if (faults.length > 0) throw new ExitCode(1);
    return;
  }
  for (const note of unknownNames(addon))
    say(`note: ${join(folder, note)} is no parameter of it: it must come from the Sync's values`);
  for (const { name } of addon.files)
    if (placeInChart(name) === undefined)
      say(`note: ${join(folder, name)} can't be read by .Files.Get, as the name means something to Helm: rename it`);
  for (const doubt of doubts)
    say(`note: ${lineOf(folder, doubt)}: if that is no value for it, say in the schema what is`);
  endWithFaults(folder, faults);
  say(`${objects} object${objects === 1 ? '' : 's'}, no faults`);
}

interface Trial {
  faults: AddonFault[];
  /** Faults with values of which the schema says nothing. */
  doubts: AddonFault[];
  objects: number;
}

const NOTHING: Trial = { faults: [], doubts: [], objects: 0 };

async function tryOut(addon: Addon, sets: readonly ParameterSet[]): Promise<Trial> {
  const faults: AddonFault[] = [];
  const doubts: AddonFault[] = [];
  const objects = new Set<string>();
  const files = addon.files.map(({ name }) => name);
  const told = new Set<string>();
  for (const set of sets)
    try {
      for (const object of await renderAddon(addon, set)) objects.add(describeRef(refOf(object)));
    } catch (error) {
      if (!isError(error)) throw error;
      const fault = await withItsLine(placedFault(error.message, files), addon, set);
      const key = lineOf('', fault);
      // The same fault comes with other values too.
      if (told.has(key)) continue;
      told.add(key);
      (set.isGuess ? doubts : faults).push({ ...fault, message: `${fault.message} (with ${set.title})` });
    }
  return { faults, doubts, objects: objects.size };
}

/** Of what is rendered nobody sees the lines: the one that is not YAML is shown. */
async function withItsLine(fault: AddonFault, addon: Addon, set: ParameterSet): Promise<AddonFault> {
  if (!fault.message.includes('is not valid YAML')) return fault;
  const found = await brokenLine(fault.file, addon, set, REAL_TOOLS);
  if (found === undefined) return fault;
  const { line, text, reason } = found;
  return {
    ...fault,
    message: `line ${line} of what it renders is not valid YAML: ${reason}: ${shorten(text, LONGEST_LINE)}`,
  };
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
