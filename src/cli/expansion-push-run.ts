import { Readable } from 'node:stream';
import { EspalierError } from '../api/errors.ts';
import { memberPath, type TarMember } from '../charts/tar-read.ts';
import { type Checked, checkPackage } from '../expansion/examine.ts';
import { imageTargets } from '../expansion/image-targets.ts';
import { packedMembers } from '../expansion/members.ts';
import { parsePackageUrl } from '../expansion/oci-package.ts';
import type { Push } from '../expansion/push.ts';
import { pushCharts } from '../expansion/push-charts.ts';
import { pushImages } from '../expansion/push-images.ts';
import { type PackageTarget, pushPackage } from '../expansion/push-package.ts';
import { IMAGES_FILE } from '../expansion/verify.ts';
import type { ImageRule } from '../images/rules.ts';
import type { Result } from '../mirror/outcome.ts';
import { openRegistry } from '../registry/registry.ts';
import { counted } from './counted.ts';
import { printFaults } from './expansion-faults.ts';
import { withLittleMemory } from './expansion-memory.ts';
import { withMembers } from './expansion-place.ts';
import { watched, withProgress } from './expansion-progress.ts';
import type { PushFlags } from './expansion-push.ts';
import { documentOf, summarise, tell } from './mirror-report.ts';
import { wireFor, withChartSink } from './mirror-tools.ts';
import { print, say } from './print.ts';

const PUSH_VERSION = 'espalier.dev/push/v1';

type Members = () => AsyncIterable<TarMember>;

/** Everything that the flags name. True when all of it is there. */
export async function pushMaterials(location: string, flags: PushFlags, signal: AbortSignal): Promise<boolean> {
  return await withMembers(location, flags, (members) =>
    withLittleMemory(() => push(location, members, flags, signal)),
  );
}

async function push(location: string, members: Members, flags: PushFlags, signal: AbortSignal): Promise<boolean> {
  // Layers have digests that only sums tell: of an archive that goes elsewhere as it is, they are not needed.
  const digests = flags.images !== undefined;
  const checked = await withProgress('package', 'checking', (_, onBytes) =>
    checkPackage(location, { members: watched(members(), signal, onBytes), digests }),
  );
  const { faults } = checked;
  if (faults.length > 0) {
    if (flags.output === 'json') print(JSON.stringify({ ...documentOf(PUSH_VERSION, [], []), faults }, null, 2));
    else printFaults(location, faults);
    say('nothing was pushed');
    return false;
  }
  return await pushChecked(checked, members, flags, signal);
}

async function pushChecked(
  checked: Checked,
  members: Members,
  flags: PushFlags,
  signal: AbortSignal,
): Promise<boolean> {
  const target = flags.package === undefined ? undefined : targetOf(flags.package, checked);
  const wire = await wireFor(flags);
  const registry = openRegistry(wire);
  const results: Result[] = [];
  const rules: ImageRule[] = [];
  const onResult = (result: Result): void => {
    results.push(result);
    if (flags.output !== 'json') tell(result, true);
  };
  const base = { registry, members, dryRun: flags.dryRun === true, signal, onResult };
  try {
    const { charts } = flags;
    if (charts !== undefined)
      await withChartSink(charts, registry, wire, signal, (sink) =>
        sending('charts', base, (push) => pushCharts(checked.contents, sink, push)),
      );
    if (flags.images !== undefined) {
      const targets = imageTargets(checked.contents.images ?? [], flags.images);
      for (const failed of targets.failed) onResult(failed);
      rules.push(...targets.rules);
      const inArchive = { ...base, members: () => imageMembers(members) };
      await sending('images', inArchive, (push) => pushImages(targets.jobs, push));
    }
    if (target !== undefined) await sending('package', base, (push) => pushPackage(checked, target, push));
  } finally {
    await registry.close();
  }
  if (flags.output === 'json') print(JSON.stringify(documentOf(PUSH_VERSION, results, rules), null, 2));
  for (const note of notesOn(checked, flags)) say(`note: ${note}`);
  summarise(results, rules);
  return results.every(({ outcome: { state } }) => state === 'there' || state === 'copied');
}

/** What is in the image archive. */
async function* imageMembers(members: Members): AsyncGenerator<TarMember> {
  for await (const { path, content } of members())
    if (memberPath(path) === IMAGES_FILE) {
      yield* packedMembers(Readable.from(content(), { objectMode: false }));
      return;
    }
}

function sending(
  subject: string,
  base: Omit<Push, 'onTotal' | 'onBytes'>,
  run: (push: Push) => Promise<void>,
): Promise<void> {
  return withProgress(subject, 'sending', (onTotal, onBytes) => run({ ...base, onTotal, onBytes }));
}

function targetOf(url: string, { expansion: { expansion_version: version } }: Checked): PackageTarget {
  const { place, reference } = parsePackageUrl(url) ?? {};
  if (place === undefined || reference?.startsWith('sha256:') === true)
    throw wrong(`--package "${url}": write oci://registry.example.com/path, with :tag where it is not the version`);
  const tag = reference ?? version;
  if (tag === undefined)
    throw wrong(`the package has no expansion_version; write the tag that it is to have behind ${url}`);
  return { place, tag, isMovable: reference !== undefined };
}

/** What stays where it is, and why. */
function notesOn({ expansion, contents }: Checked, flags: PushFlags): string[] {
  const { charts, images, images_loaded: isLoaded } = expansion;
  const notes: string[] = [];
  const isHere = contents.images !== undefined;
  if (images.length > 0 && !isHere && isLoaded)
    notes.push(
      `images_loaded: ${counted(images.length, 'image')} not in the package, for the registry is said to have them`,
    );
  else if (images.length > 0 && flags.images === undefined)
    notes.push(`${counted(images.length, 'image')} left in the package: --images <registry> pushes them`);
  if (charts.length > 0 && flags.charts === undefined)
    notes.push(`${counted(charts.length, 'chart')} left in the package: --charts <url> pushes them`);
  const rest = (['files', 'hooks', 'provider'] as const).flatMap((field) => expansion[field]);
  if (rest.length > 0 && flags.package === undefined)
    notes.push(
      `${counted(rest.length, 'file')} left in the package (files, hooks, provider): --package <url> pushes all of it`,
    );
  return notes;
}

function wrong(message: string): EspalierError {
  return new EspalierError('InvalidConfiguration', message, { retry: false });
}
