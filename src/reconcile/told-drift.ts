import type { Plugin } from '../api/index.ts';
import type { Plan } from '../plan/whole.ts';

/** What differs from what a Plugin declares, as its status has it, under the name that people know it by. */
export function toldDrift({ status }: Plugin, name: string): Plan['drift'] {
  return (status?.drift ?? []).map(({ object, fields, by }) => ({
    plugin: name,
    object,
    fields: [...fields],
    ...(by === undefined ? {} : { by }),
  }));
}
