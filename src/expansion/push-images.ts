import { EspalierError, messageOf } from '../api/index.ts';
import type { Outcome, Result } from '../mirror/outcome.ts';
import { inParallel } from '../mirror/parallel.ts';
import { repositorySink, transferTree } from '../mirror/transfer.ts';
import { contentsOf } from '../registry/contents.ts';
import type { Manifest, Place } from '../registry/types.ts';
import type { NamedImage } from './images-index.ts';
import type { Push } from './push.ts';
import { type Need, sendParts } from './send-parts.ts';

export interface ImageJob extends Pick<Result, 'from' | 'to'> {
  image: NamedImage & { root: Manifest };
  place: Place;
  /** The tag, or a digest. */
  reference: string;
}

const LOOKS = 8;

/** An image on its way, and the parts that it waits for. */
interface Waiting {
  job: ImageJob;
  parts: Set<string>;
}

/** Images of an archive to one registry. `push.members` are those of the archive. Every image is tried. */
export async function pushImages(jobs: readonly ImageJob[], push: Push): Promise<void> {
  const { registry, signal, dryRun } = push;
  const missing: Waiting[] = [];
  await inParallel(jobs, LOOKS, signal, async (job) => {
    try {
      const found = await registry.look(job.place, job.reference, signal);
      if (found?.digest === job.image.root.digest) tell(push, job, { state: 'there' });
      else if (dryRun) tell(push, job, { state: 'missing' });
      else missing.push({ job, parts: new Set() });
    } catch (error) {
      tell(push, job, failed(error));
    }
  });
  if (missing.length > 0) await bring(missing, push);
}

async function bring(missing: readonly Waiting[], push: Push): Promise<void> {
  const { registry, signal, members, onBytes } = push;
  const open = new Set(missing);
  const ending: Promise<void>[] = [];
  const end = (image: Waiting, outcome: () => Promise<Outcome>): void => {
    if (open.delete(image)) ending.push(settle(push, image.job, outcome));
  };
  const needs = await needsOf(missing, push, (image, error) => end(image, async () => failed(error)));
  push.onTotal([...needs.values()].reduce((total, { descriptor }) => total + descriptor.size, 0));
  for (const image of missing) if (image.parts.size === 0) end(image, () => name(image.job, push));
  const onPart = (digest: string, place: Place, error?: unknown): void => {
    const key = keyOf(place, digest);
    for (const image of open) {
      if (!image.parts.delete(key)) continue;
      if (error !== undefined) end(image, async () => failed(error));
      else if (image.parts.size === 0) end(image, () => name(image.job, push));
    }
  };
  try {
    await sendParts(needs, { registry, members, signal, onBytes, onPart });
  } catch (error) {
    signal.throwIfAborted();
    for (const image of open) end(image, async () => failed(error));
  } finally {
    await Promise.all(ending);
  }
}

/** Which parts which repositories lack, by their files. Each image learns what it has to wait for. */
async function needsOf(
  missing: readonly Waiting[],
  { registry, signal }: Push,
  onFailed: (image: Waiting, error: unknown) => void,
): Promise<Map<string, Need>> {
  const asked = missing.flatMap((image) =>
    partsOf(image.job).map((descriptor) => ({ image, descriptor, key: keyOf(image.job.place, descriptor.digest) })),
  );
  const answers = new Map<string, Promise<boolean>>();
  // By digest: what stands in two files of the archive is sent from one of them.
  const needs = new Map<string, Need & { path: string }>();
  await inParallel(asked, LOOKS, signal, async ({ image, descriptor, key }) => {
    const { place, image: archived } = image.job;
    const { path = '', isWrapped = false } = archived.parts.get(descriptor.digest) ?? {};
    const isFirst = !answers.has(key);
    const answer = answers.get(key) ?? registry.hasBlob(place, descriptor.digest, signal);
    answers.set(key, answer);
    try {
      const has = await answer;
      const need = needs.get(descriptor.digest) ?? { path, descriptor, isWrapped, lacking: [] };
      needs.set(descriptor.digest, need);
      if (has) need.has = place;
      else image.parts.add(key);
      if (!has && isFirst) need.lacking.push(place);
    } catch (error) {
      onFailed(image, error);
    }
  });
  const lacked = [...needs.values()].filter(({ lacking }) => lacking.length > 0);
  return new Map(lacked.map((need) => [need.path, need]));
}

function partsOf({ image, from }: ImageJob) {
  return [image.root, ...image.manifests].flatMap((manifest) => contentsOf(manifest, from).blobs);
}

/** All parts are there: what remains are the manifests. */
async function name({ image, place, reference, from }: ImageJob, { registry, signal }: Push): Promise<Outcome> {
  const source = {
    manifest: async (digest: string) => image.manifests.find((one) => one.digest === digest),
    // biome-ignore lint/correctness/useYield: it has nothing to give
    async *blob(): AsyncGenerator<Uint8Array> {
      throw new EspalierError('RegistryFailed', `${place.host} has lost a part of ${from} meanwhile; push it again`);
    },
  };
  await transferTree({ from: source, to: repositorySink(registry, place, signal), what: from }, image.root, reference);
  return { state: 'copied' };
}

async function settle(push: Push, job: ImageJob, outcome: () => Promise<Outcome>): Promise<void> {
  tell(push, job, await outcome().catch(failed));
}

function tell({ onResult }: Push, { from, to, image }: ImageJob, outcome: Outcome): void {
  onResult({ kind: 'image', from, to, digest: image.root.digest, outcome });
}

function failed(error: unknown): Outcome {
  return { state: 'failed', why: messageOf(error) };
}

function keyOf({ repository }: Place, digest: string): string {
  return `${repository} ${digest}`;
}
