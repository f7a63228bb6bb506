/** A part of a text in several lengths, from the whole to the least that may be shown. */
export type Part = readonly [string, ...string[]];

/**
 * Chooses a length for each part so that together they fit: the largest is shortened first, again and again, so what is
 * small stays whole. When even the shortest forms don't fit, parts at the end are left out; `dropped` says how many.
 */
export function fitParts(
  parts: readonly Part[],
  room: number,
  gap: number,
): { texts: string[]; isCut: boolean; dropped: number } {
  const level = parts.map(() => 0);
  const textOf = (part: Part, index: number): string => part[level[index] ?? 0] ?? part[0];
  let used = parts.reduce((sum, part) => sum + part[0].length + gap, 0);
  while (used > room) {
    let largest = -1;
    parts.forEach((part, index) => {
      if ((level[index] ?? 0) >= part.length - 1) return;
      const isLarger = largest < 0 || textOf(part, index).length > textOf(parts[largest] ?? part, largest).length;
      if (isLarger) largest = index;
    });
    const part = parts[largest];
    if (part === undefined) break;
    used -= textOf(part, largest).length;
    level[largest] = (level[largest] ?? 0) + 1;
    used += textOf(part, largest).length;
  }
  const texts = parts.map(textOf);
  const isCut = level.some((one) => one > 0);
  let dropped = 0;
  for (; used > room && texts.length > 0; dropped++) used -= (texts.pop()?.length ?? 0) + gap;
  return { texts, isCut: isCut || dropped > 0, dropped };
}
