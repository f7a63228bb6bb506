import { EspalierError, messageOf } from '../api/index.ts';
import { inMemory } from '../mirror/charts.ts';
import type { Outcome } from '../mirror/outcome.ts';
import { inParallel } from '../mirror/parallel.ts';
import { repositorySink, type Source, transferTree } from '../mirror/transfer.ts';
import { type Descriptor, describePlace, type Place } from '../registry/types.ts';
import { type PackageArtifact, packageArtifact } from './artifact.ts';
import type { Checked } from './examine.ts';
import type { Push } from './push.ts';
import { type Need, sendParts } from './send-parts.ts';

export interface PackageTarget {
  place: Place;
  tag: string;
  /** It was written by a person, and may stand for something else from now on; a version may not. */
  isMovable: boolean;
}

const LOOKS = 8;

/** The package itself, whole, as an artifact of a registry. */
export async function pushPackage({ expansion, contents }: Checked, target: PackageTarget, push: Push): Promise<void> {
  const artifact = packageArtifact(expansion, contents.files);
  const name = expansion.expansion_name ?? 'the package';
  let outcome: Outcome;
  try {
    outcome = await bring(artifact, target, name, push);
  } catch (error) {
    push.signal.throwIfAborted();
    outcome = { state: 'failed', why: messageOf(error) };
  }
  const to = `oci://${describePlace(target.place)}:${target.tag}`;
  push.onResult({ kind: 'package', from: name, to, digest: artifact.manifest.digest, outcome });
}

async function bring(
  { manifest, layers, made }: PackageArtifact,
  { place, tag, isMovable }: PackageTarget,
  name: string,
  push: Push,
): Promise<Outcome> {
  const { registry, signal, dryRun, onBytes } = push;
  const found = await registry.look(place, tag, signal);
  if (found?.digest === manifest.digest) return { state: 'there' };
  if (found !== undefined && !isMovable)
    throw new EspalierError(
      'RegistryRefused',
      `${describePlace(place)} has another package as ${tag}: ${found.digest}, not ${manifest.digest}; give it another expansion_version, or name the tag to move: oci://${describePlace(place)}:${tag}`,
      { retry: false },
    );
  if (dryRun) return { state: 'missing' };
  const needs = await needsOf(layers, made, place, push);
  push.onTotal([...needs.values()].reduce((total, { descriptor }) => total + descriptor.size, 0));
  const failures: unknown[] = [];
  const onPart = (_digest: string, _place: Place, error?: unknown): void => {
    if (error !== undefined) failures.push(error);
  };
  await sendParts(needs, { registry, members: push.members, signal, onBytes, onPart });
  if (failures.length > 0) throw failures[0];
  const to = repositorySink(registry, place, signal);
  await transferTree({ from: sourceOf(made, name), to, what: name }, manifest, tag);
  return { state: 'copied' };
}

/** The files whose content the repository lacks. */
async function needsOf(
  layers: ReadonlyMap<string, Descriptor>,
  made: ReadonlyMap<string, Uint8Array>,
  place: Place,
  { registry, signal }: Push,
): Promise<Map<string, Need>> {
  const byDigest = new Map([...layers].map(([path, descriptor]) => [descriptor.digest, { path, descriptor }]));
  const needs = new Map<string, Need>();
  await inParallel([...byDigest.values()], LOOKS, signal, async ({ path, descriptor }) => {
    if (made.has(descriptor.digest) || (await registry.hasBlob(place, descriptor.digest, signal))) return;
    needs.set(path, { descriptor, lacking: [place] });
  });
  return needs;
}

/** What is left to send is what was made here. */
function sourceOf(made: ReadonlyMap<string, Uint8Array>, name: string): Source {
  return {
    manifest: async () => undefined,
    blob({ digest }) {
      const bytes = made.get(digest);
      if (bytes === undefined)
        throw new EspalierError('RegistryFailed', `the registry has lost a part of ${name} meanwhile; push it again`);
      return inMemory(bytes);
    },
  };
}
