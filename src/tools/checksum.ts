const SHA256 = /^[0-9a-f]{64}$/;

/**
 * The sha256 of a file as its publisher lists it: a line of `sha256sum`, or a bare sum where the list is about one
 * file. Undefined when the list says nothing about that file: then nothing is proven.
 */
export function sumFor(file: string, list: string): string | undefined {
  const lines = list.split(/[\r\n\0]+/).map((line) => line.trim());
  const rows = lines.filter((line) => line !== '').map((line) => line.split(/\s+\*?/));
  for (const [sum = '', name = ''] of rows) {
    if (SHA256.test(sum) && (name.split('/').at(-1) === file || (name === '' && rows.length === 1))) return sum;
  }
  return undefined;
}

/** The digest that GitHub computed for an asset of a release, from the release's JSON. */
export function githubDigestFor(file: string, release: string): string | undefined {
  const { assets }: { assets?: unknown } = { ...parse(release) };
  if (!Array.isArray(assets)) return undefined;
  for (const asset of assets) {
    const { name, digest }: { name?: unknown; digest?: unknown } = { ...asset };
    if (name !== file || typeof digest !== 'string' || !digest.startsWith('sha256:')) continue;
    const sum = digest.slice('sha256:'.length);
    return SHA256.test(sum) ? sum : undefined;
  }
  return undefined;
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
