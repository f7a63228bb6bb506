import { ANNOTATION, type Json, type KubeObject, LABEL, type Plugin, readAs, type Sync } from '../../api/index.ts';
import { contentKey } from '../../resolve/key.ts';
import { keyOf } from '../store.ts';
import { sameJson } from '../write-status.ts';

export const KUBEGEMS = 'kubegems';

/** The Plugin of a KubeGems object as it is written. Its labels stay with it: they may be those of whoever installed it. */
export function wantedPlugin(translated: KubeObject, sync: Sync): KubeObject {
  const { name, namespace } = translated.metadata;
  const plugin: KubeObject = {
    ...translated,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [LABEL.compat]: KUBEGEMS },
      annotations: { [ANNOTATION.factsOf]: keyOf(sync) },
    },
  };
  const annotations = { ...plugin.metadata.annotations, [ANNOTATION.inputs]: contentKey({ plugin }) };
  return { ...plugin, metadata: { ...plugin.metadata, annotations } };
}

/** Whether it was made of a KubeGems object, and of nothing else. */
export function isOfKubegems({ metadata }: Plugin): boolean {
  return metadata.labels?.[LABEL.compat] === KUBEGEMS && metadata.labels[LABEL.sync] === undefined;
}

/** Whether the Plugin says all that is wanted. What others have added, such as `suspend`, is theirs. */
export function saysAll(live: Plugin, wanted: KubeObject): boolean {
  const { labels = {}, annotations = {} } = live.metadata;
  const isMarked =
    Object.entries(wanted.metadata.labels ?? {}).every(([name, value]) => labels[name] === value) &&
    Object.entries(wanted.metadata.annotations ?? {}).every(([name, value]) => annotations[name] === value);
  const [is, want] = [live.spec, readAs(wanted, 'Plugin').spec] as unknown as Record<string, Json>[];
  return isMarked && Object.keys(wanted.spec as object).every((field) => sameJson(is?.[field], want?.[field]));
}
