import { fullName, splitImage } from './name.ts';

/** Names that begin with `from` begin with `to` instead; tags and digests stay. */
export interface ImageRule {
  readonly from: string;
  readonly to: string;
}

/** The longest rule that fits decides. Undefined when none does. */
export function rewriteImage(image: string, rules: readonly ImageRule[]): string | undefined {
  const { name, suffix } = splitImage(image);
  let best: { from: string; result: string } | undefined;
  for (const rule of rules) {
    const from = trimmed(rule.from);
    const fitting = [fullName(name), name].find((one) => isWithin(one, from));
    if (fitting === undefined || (best !== undefined && best.from.length >= from.length)) continue;
    best = { from, result: trimmed(rule.to) + fitting.slice(from.length) + suffix };
  }
  return best?.result;
}

/** Where images are meant to come from: where rules lead, and the registry that the global value `imageRegistry` names. */
export function ownPlaces(rules: readonly ImageRule[], imageRegistry: unknown): string[] {
  const named = typeof imageRegistry === 'string' && imageRegistry !== '' ? [imageRegistry] : [];
  return [...rules.map(({ to }) => to), ...named].map(trimmed);
}

/** Images, as they are pulled, that stand in none of the places: sorted, each once. Without places there are none. */
export function leftBehind(images: Iterable<string>, places: readonly string[]): string[] {
  if (places.length === 0) return [];
  const isThere = (name: string) =>
    places.some((place) => isWithin(name, place) || isWithin(fullName(name), fullName(place)));
  return [...new Set(images)].filter((image) => !isThere(splitImage(image).name)).toSorted();
}

function isWithin(name: string, prefix: string): boolean {
  return name === prefix || name.startsWith(`${prefix}/`);
}

function trimmed(prefix: string): string {
  return prefix.replace(/\/+$/, '');
}
