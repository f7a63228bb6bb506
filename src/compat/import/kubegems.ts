import type { JsonObject, KubeObject } from '../../api/index.ts';
import { translateKubegems } from '../kubegems.ts';
import { draftPlugin, Import, type Imported, type Leave, titleOf } from './imported.ts';
import { listAt, textAt } from './read.ts';

/** Plugins of KubeGems as they are in a cluster. Its installer makes true Helm releases, so those are taken over. */
export function fromKubegems(objects: readonly KubeObject[]): Imported {
  const result = new Import();
  for (const object of objects) {
    const title = titleOf(object);
    const leave = result.leaver(title);
    const maker = makerOf(object);
    if (maker !== undefined) {
      leave('', `${maker} makes it: that is imported, and makes it in the new repository too`);
      continue;
    }
    // What its status says was written by the installer, and is no part of what is wanted.
    const { status: _, ...declared } = object;
    const translation = translateKubegems(declared as KubeObject, { inRepository: false });
    if ('faults' in translation) {
      for (const { path, message } of translation.faults) leave(path.slice(1).replaceAll('/', '.'), message);
      continue;
    }
    const { metadata, spec } = translation.plugin;
    leaveFinalizers(object, leave);
    result.add(title, draftPlugin(metadata.namespace ?? '', metadata.name, spec as unknown as JsonObject));
  }
  return result;
}

/** A Plugin of a bundle is made by the Plugin that the bundle is. */
function makerOf(object: KubeObject): string | undefined {
  const owner = listAt(object, 'metadata', 'ownerReferences').find((one) => textAt(one, 'kind') === 'Plugin');
  return owner === undefined ? undefined : `Plugin ${textAt(owner, 'name')}`;
}

function leaveFinalizers({ metadata }: KubeObject, leave: Leave): void {
  const { finalizers = [] } = metadata;
  if (finalizers.length > 0)
    leave('metadata.finalizers', `take ${finalizers.join(', ')} off before you delete it, or its release goes too`);
}
