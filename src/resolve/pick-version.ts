import semver from 'semver';
import { parseRange } from './range.ts';

export type Picked = { ok: true; version: string } | { ok: false; message: string };

/**
 * The newest of the versions that the range includes, spelled as the source spells it (`v1.18.2`, or `1.0.0_b1` as
 * registries write `1.0.0+b1`). A range that is literally one of them means that one. What isn't a version is passed over.
 */
export function pickVersion(available: readonly string[], range: string): Picked {
  if (available.includes(range)) return { ok: true, version: range };
  const parsed = parseRange(range);
  if (!parsed.ok) return parsed;
  let best: { text: string; version: semver.SemVer } | undefined;
  for (const text of available) {
    const version = semver.parse(text.replace(/^[vV]/, '').replace('_', '+'));
    if (version === null || !parsed.range.includes(version.raw)) continue;
    if (best === undefined || semver.compareBuild(version, best.version) > 0) best = { text, version };
  }
  if (best !== undefined) return { ok: true, version: best.text };
  return { ok: false, message: `No version is in "${range}". ${describe(available)}` };
}

/** False where one of the two is no version. */
export function isOlderVersion(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => semver.parse(text.replace(/^[vV]/, '').replace('_', '+')));
  return a != null && b != null && semver.compare(a, b) < 0;
}

function describe(available: readonly string[]): string {
  if (available.length === 0) return 'The source offers no version at all.';
  const newest = available
    .flatMap((text) => semver.parse(text.replace(/^[vV]/, '').replace('_', '+')) ?? [])
    .sort((a, b) => semver.compareBuild(b, a))
    .slice(0, 5);
  if (newest.length === 0) return `None of the ${available.length} tags of the source is a version.`;
  return `The newest that the source offers: ${newest.map((version) => version.raw).join(', ')}.`;
}
