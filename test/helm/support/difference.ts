/** A value in a tree that can't be compared, because it is another one each time. */
export const ANY = '<any>';

/**
 * What two trees differ in, a line for each place: `ConfigMap web /data/text: plain "x", agent "y"`. Nothing in it for
 * trees that are the same.
 */
export function differences(a: unknown, b: unknown, names: readonly [string, string], path = ''): string[] {
  if (Object.is(a, b)) return [];
  if (isTree(a) && isTree(b) && Array.isArray(a) === Array.isArray(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return keys.flatMap((key) =>
      differences(a[key], b[key], names, path === '' ? key : `${path}/${key.replaceAll('/', '~1')}`),
    );
  }
  return [`${path}: ${names[0]} ${shown(a)}, ${names[1]} ${shown(b)}`];
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  if (value === undefined) return 'has none';
  const text = JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
