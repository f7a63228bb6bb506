/** JSON pointers into our Plugin and the pointers into the KubeGems object that it was made of. */
export type Pointers = readonly (readonly [ours: string, theirs: string])[];

/** Where the KubeGems object says what our Plugin holds at a pointer; the longest rule wins. */
export function theirPointer(pointers: Pointers, pointer: string): string {
  let best: readonly [string, string] = ['', ''];
  for (const rule of pointers) {
    const [ours] = rule;
    const isAbove = pointer === ours || pointer.startsWith(`${ours}/`);
    if (isAbove && ours.length > best[0].length) best = rule;
  }
  const [ours, theirs] = best;
  return ours === '' ? '' : `${theirs}${pointer.slice(ours.length)}`;
}
