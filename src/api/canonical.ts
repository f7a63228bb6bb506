/**
 * One text for one meaning: keys sorted, absent and undefined alike, no white space. Two values with the same text are
 * the same input. Throws on what JSON can't hold, because a key made from it would be a lie.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value))
    return `[${value.map((item) => canonicalJson(item === undefined ? null : item)).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} has no JSON form`);
  // One text that grows, and no lists in between: this runs for all that is rendered, and for every answer.
  let fields = '';
  for (const name of sortedNames(value)) {
    const field: unknown = Reflect.get(value, name);
    if (field === undefined) continue;
    fields += `${fields === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(field)}`;
  }
  return `{${fields}}`;
}

/** Mostly they are in order already: the API server writes them so. */
function sortedNames(value: object): string[] {
  const names = Object.keys(value);
  for (let at = 1; at < names.length; at++) if ((names[at - 1] ?? '') > (names[at] ?? '')) return names.sort();
  return names;
}
