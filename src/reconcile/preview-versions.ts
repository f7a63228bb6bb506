import type { KubeObject, Plugin } from '../api/index.ts';
import type { ImageField } from '../images/fields.ts';
import { imagesIn } from '../images/find.ts';
import type { PluginPlan, VersionChange } from '../plan/object-plan.ts';
import { isOlderVersion } from '../resolve/pick-version.ts';
import type { Rendered } from './rendered.ts';

/** What a Plugin's change brings along beside fields, and what a reader of its plan should be warned of. */
export function toldBeside(
  plugin: Plugin,
  rendered: Rendered,
  plan: PluginPlan,
  live: Iterable<KubeObject>,
  fields: readonly ImageField[] = [],
): Required<Pick<PluginPlan, 'versions' | 'images' | 'warnings'>> {
  const versions = versionsOf(plugin, rendered);
  const known = new Set(imagesIn([...live], fields));
  const images = imagesIn(rendered.objects, fields).filter((image) => !known.has(image));
  const downgrades = versions
    .filter(({ from, to }) => from !== undefined && isOlderVersion(to, from))
    .map(({ what, from, to }) => `${what} goes back from ${from} to ${to}`);
  return { versions, images, warnings: [...downgrades, ...plan.objects.flatMap(cautionOf)] };
}

function versionsOf({ status }: Plugin, { version }: Rendered): VersionChange[] {
  const before = status?.revision;
  const pairs = [
    [version.chart === undefined ? 'version' : `chart ${version.chart}`, before?.version, version.version],
    ['app', before?.app, version.app],
  ] as const;
  return pairs.flatMap(([what, from, to]): VersionChange[] => {
    if (to === undefined || from === to) return [];
    return [{ what, to, ...(from === undefined ? {} : { from }) }];
  });
}

function cautionOf(object: PluginPlan['objects'][number]): string[] {
  if (object.action === 'delete' && object.ref.kind === 'CustomResourceDefinition')
    return [`removes the kind ${object.ref.name} from the cluster, and every object of it`];
  if (object.action === 'refused' && /immutable/.test(object.message))
    return [
      `${object.ref.kind} ${object.ref.name} can't be changed like this: it would have to be deleted and made again`,
    ];
  return [];
}
