import { type KubeObject, type Plugin, refKey, refOf } from '../api/index.ts';
import { withFoldedData } from '../plan/secret-forms.ts';
import { type Finished, finishObjects, type Scope } from '../render/finish.ts';
import { contentKey } from '../resolve/key.ts';
import type { Facts } from './facts.ts';
import type { Rendered } from './rendered.ts';
import { type Kinds, scopesOf } from './scopes.ts';

export interface FinishInput {
  /** Tells which kinds live in namespaces. */
  client: Kinds;
  plugin: Plugin;
  facts: Facts;
}

/** Rendered objects as they are sent: patched, rewritten, in their namespace, labelled, and the namespace itself where that is wanted. */
export async function finishFor(
  { client, plugin, facts }: FinishInput,
  objects: readonly KubeObject[],
  { namespace = true }: { namespace?: boolean } = {},
): Promise<Finished> {
  const scopes = await scopesOf(client, objects);
  const finished = finishObjects(objects, {
    plugin,
    targetNamespace: targetNamespace(plugin),
    createNamespace: namespace && (plugin.spec.namespace?.create ?? false),
    patches: plugin.spec.patches ?? [],
    images: { rewrite: facts.images, report: facts.reportImages },
    scopeOf: (object): Scope => scopes.get(`${object.apiVersion} ${object.kind}`) ?? 'unknown',
  });
  // `stringData` is written into `data` by the API server, which then says that nobody owns it: drift would go unseen.
  return { ...finished, objects: finished.objects.map(withFoldedData) };
}

/** What is known of objects that are ready to be sent. */
export function toRendered(plugin: Plugin, finished: Finished, warnings: readonly string[]): Rendered {
  const { objects } = finished;
  const namespace = targetNamespace(plugin);
  return {
    objects,
    hashes: new Map(objects.map((object) => [refKey(refOf(object)), contentKey({ object }).slice(0, 20)])),
    warnings: [...warnings, ...finished.warnings],
    ensure: finished.ensure,
    definitions: new Set(),
    version: {},
    bytes: objects.reduce((sum, object) => sum + JSON.stringify(object).length, 0),
    undecided: new Map(
      finished.undecided.map((object) => [refKey(refOf(object)), refKey({ ...refOf(object), namespace })]),
    ),
  };
}

export function targetNamespace({ metadata, spec }: Plugin): string {
  return spec.namespace?.name ?? metadata.namespace ?? '';
}
