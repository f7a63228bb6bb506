import type { JsonObject, KubeObject } from '../../api/index.ts';
import { fromApplication } from './application.ts';
import { Import, type Imported, titleOf } from './imported.ts';
import { listAt, textAt } from './read.ts';
import type { World } from './world.ts';

export interface ArgoObjects {
  applications: readonly KubeObject[];
  /** Told, and not carried: ApplicationSets and AppProjects. */
  beside: readonly KubeObject[];
}

const BESIDE: Readonly<Record<string, string>> = {
  ApplicationSet:
    'its Applications are imported as they are now; what comes and goes with clusters or folders belongs into overlays (clusters/) or new files',
  AppProject: 'what may be installed where is said by the Sync: allowedNamespaces, serviceAccountName and its rights',
};

export function fromArgo({ applications, beside }: ArgoObjects, world: World): Imported {
  const result = new Import();
  // The plugins of a wave are known when the next one is translated.
  const byWave = [...applications].sort((a, b) => waveOf(a) - waveOf(b));
  const made = new Map<KubeObject, JsonObject[]>();
  for (const object of byWave) {
    const leave = result.leaver(titleOf(object));
    const names: JsonObject[] = [];
    for (const { plugin, overlay } of fromApplication(object, before(object, byWave, made), world, leave)) {
      if (!result.add(titleOf(object), plugin)) continue;
      if (overlay !== undefined) result.files.set(overlay.path, world.printYaml(overlay.content));
      names.push({ name: plugin.metadata.name, namespace: plugin.metadata.namespace ?? '' });
    }
    made.set(object, names);
  }
  for (const object of beside) {
    const why = BESIDE[object.kind];
    if (why !== undefined && !(object.kind === 'AppProject' && object.metadata.name === 'default'))
      result.leaver(titleOf(object))('', why);
  }
  return result;
}

/** The Plugins of the wave before, of the same parent: Argo CD goes on when those are healthy. */
function before(
  object: KubeObject,
  all: readonly KubeObject[],
  made: ReadonlyMap<KubeObject, JsonObject[]>,
): JsonObject[] {
  const siblings = all.filter(
    (one) => parentOf(one) !== '' && parentOf(one) === parentOf(object) && waveOf(one) < waveOf(object),
  );
  const last = Math.max(...siblings.map(waveOf));
  const { namespace } = object.metadata;
  return siblings
    .filter((one) => waveOf(one) === last)
    .flatMap((one) => made.get(one) ?? [])
    .map(({ name = '', namespace: its = '' }) => ({ name, ...(its === namespace ? {} : { namespace: its }) }));
}

function waveOf({ metadata }: KubeObject): number {
  return Number.parseInt(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? '0', 10) || 0;
}

/** The Application that made it: by annotation, by label, or by its owner. */
function parentOf(object: KubeObject): string {
  const { annotations = {}, labels = {} } = object.metadata;
  const tracked = annotations['argocd.argoproj.io/tracking-id']?.split(':')[0];
  const owner = listAt(object, 'metadata', 'ownerReferences').map((one) => textAt(one, 'name'))[0];
  return tracked ?? labels['argocd.argoproj.io/instance'] ?? labels['app.kubernetes.io/instance'] ?? owner ?? '';
}
