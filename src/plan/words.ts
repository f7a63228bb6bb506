import { ANNOTATION, describeRef } from '../api/index.ts';
import type { Action, ObjectPlan, OutcomeOf, PluginPlan } from './object-plan.ts';
import { describeOwner } from './ownership.ts';

/** One sign for each action, so that a list of objects can be skimmed without colour. */
export const SIGNS: Readonly<Record<Action, string>> = {
  create: '+',
  change: '~',
  adopt: '>',
  delete: '-',
  keep: '=',
  moved: '→',
  conflict: '!',
  refused: '✗',
  unchanged: ' ',
};

/** What is to be said about an object in one line, after its sign: `Deployment web/frontend: conflict with …`. */
export function describeObject(object: ObjectPlan): { name: string; note: string } {
  return { name: describeRef(object.ref), note: noteOf(object) };
}

function noteOf(object: ObjectPlan): string {
  switch (object.action) {
    case 'create':
      if (object.replaces !== undefined) return `in place of the present one, which is deleted: ${object.replaces.why}`;
      return object.after === undefined ? '' : 'when the present one, which is being deleted, is gone';
    case 'adopt':
      return object.from === undefined
        ? 'adopted: nobody declares it yet'
        : `taken over from ${describeOwner(object.from)}`;
    case 'delete':
      return object.terminating === undefined ? '' : waitingNote(object.terminating.finalizers);
    case 'keep':
      return `stays: ${object.why}`;
    case 'moved':
      return `declared by ${object.to} now`;
    case 'conflict':
      return `conflict with ${object.with}: ${object.why}`;
    case 'refused':
      return `refused by the API server: ${object.message}`;
    case 'unchanged':
      return object.once === undefined ? '' : ranNote(object.once);
    case 'change':
      return '';
  }
}

function ranNote({ key, changed }: NonNullable<OutcomeOf<'unchanged'>['once']>): string {
  const ran = `ran once for ${key}`;
  return changed === true ? `${ran}; as it is declared now it runs under another ${ANNOTATION.once}` : ran;
}

function waitingNote(finalizers: readonly string[]): string {
  return finalizers.length === 0 ? 'is going already' : `is going already; held by finalizers ${finalizers.join(', ')}`;
}

export function titleOf(plan: PluginPlan): string {
  const title = `${plan.plugin.namespace}/${plan.plugin.name}`;
  return plan.nestedIn === undefined ? title : `${title} (in ${plan.nestedIn})`;
}

/** `chart web: 1.2.0 → 1.3.0`, the images that come with it, and those that come from elsewhere. */
export function versionsLines({ versions = [], images = [], imagesLeft = [] }: PluginPlan): string[] {
  return [
    ...versions.map(({ what, from, to }) => (from === undefined ? `${what}: ${to}` : `${what}: ${from} → ${to}`)),
    ...images.map((image) => `new image: ${image}`),
    ...(imagesLeft.length === 0 ? [] : [`from elsewhere: ${imagesLeft.join(', ')}`]),
  ];
}

/** `2 to create, 1 unchanged`, for a heading. */
export function countsLine(plan: PluginPlan): string {
  const words: [Action, string][] = [
    ['create', 'to create'],
    ['adopt', 'to adopt'],
    ['change', 'to change'],
    ['delete', 'to delete'],
    ['moved', 'moved'],
    ['keep', 'kept'],
    ['conflict', 'in conflict'],
    ['refused', 'refused'],
    ['unchanged', 'unchanged'],
  ];
  const said = words.filter(([action]) => plan.counts[action] > 0);
  return said.length === 0 ? 'no objects' : said.map(([action, word]) => `${plan.counts[action]} ${word}`).join(', ');
}
