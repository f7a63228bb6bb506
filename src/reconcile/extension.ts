import {
  CONDITION,
  type Extension,
  type ExtensionStatus,
  isError,
  refOf,
  removeCondition,
  setCondition,
} from '../api/index.ts';
import { candidatesOf, type Tags } from '../resolve/extension-versions.ts';
import { describeSchemaFault, parameterSchemaFaults } from '../resolve/parameter-schema.ts';
import { instancesByExtension } from './catalogue-facts.ts';
import { syncKeyOf } from './nesting.ts';
import type { SyncParts } from './sync-parts.ts';
import { writeStatus } from './write-status.ts';

const LISTED = 20;

/** What there is to say of an entry of the catalogue: whether it can be used, which versions fit here, who uses it. */
export async function reconcileExtension(parts: SyncParts, key: string): Promise<undefined> {
  const extension = parts.extensions.get(key);
  if (extension?.metadata.uid === undefined || extension.metadata.deletionTimestamp !== undefined) return undefined;
  if (!isOursToTell(parts, extension)) return undefined;
  const facts = parts.catalogue();
  const users = instancesByExtension(facts.instances).get(extension.metadata.name) ?? [];
  const answers = new Map<string, Awaited<ReturnType<typeof facts.tags>>>();
  for (const { tagsFollow, source } of extension.spec.versions)
    if (
      tagsFollow !== undefined &&
      source.oci !== undefined &&
      (source.oci.secretRef === undefined || users[0] !== undefined)
    )
      answers.set(source.oci.url, await facts.tags(users[0]?.namespace ?? '', source.oci));
  const tags: Tags = ({ url }) => answers.get(url) ?? { unknown: `${url} is asked when there is an instance` };
  const after = nextExtensionStatus(
    extension,
    { kubernetes: facts.kubernetes, tags, users: users.length },
    parts.clock.now(),
  );
  try {
    const ref = { ...refOf(extension), uid: extension.metadata.uid };
    const written = await writeStatus(parts.client, ref, extension.status, after);
    if (written !== undefined) parts.extensions.put(written);
  } catch (error) {
    if (!isError(error, 'KubeNotFound')) throw error;
  }
  return undefined;
}

/** Several agents may each look after a namespace; the catalogue is one for all. */
function isOursToTell(parts: SyncParts, extension: Extension): boolean {
  const sync = syncKeyOf(extension);
  return sync === undefined ? !parts.isConfined : parts.syncs.get(sync) !== undefined;
}

/** Pure; the same facts over the same status change nothing. */
export function nextExtensionStatus(
  extension: Extension,
  { kubernetes, tags, users }: { kubernetes: string | undefined; tags: Tags; users: number },
  now: number,
): ExtensionStatus {
  const { parameters } = extension.spec;
  const [fault] = parameters === undefined ? [] : parameterSchemaFaults(parameters);
  const found = kubernetes === undefined ? undefined : candidatesOf(extension, kubernetes, tags);
  const fits = (found?.all ?? []).filter((one) => one.fits).map(({ app }) => app);
  const offer =
    fits.length === 0 ? `no version fits Kubernetes ${kubernetes ?? ''}` : `${fits.length} versions fit: ${fits[0]}`;
  const message = fault === undefined ? (found?.unknown ?? offer) : describeSchemaFault(fault);
  const isUsable = fault === undefined && found?.unknown === undefined;
  const { generation } = extension.metadata;
  const about = generation === undefined ? {} : { observedGeneration: generation };
  const reason = fault !== undefined ? 'InvalidDeclaration' : isUsable ? 'Usable' : 'RegistryUnknown';
  const status = isUsable ? ('True' as const) : ('False' as const);
  const ready = setCondition(
    extension.status?.conditions,
    { type: CONDITION.Ready, status, reason, message, ...about },
    now,
  );
  const conditions =
    fault === undefined
      ? removeCondition(ready, CONDITION.Stalled)
      : setCondition(ready, { type: CONDITION.Stalled, status: 'True', reason, message, ...about }, now);
  const { fits: _, ...before } = extension.status ?? {};
  const listed = fits.length === 0 ? {} : { fits: fits.slice(0, LISTED) };
  return { ...before, ...about, ...listed, conditions, message, instances: users };
}
