import { isError } from '../api/index.ts';
import type { FileTree } from '../git/tree.ts';

/** As large as the field itself may be: a page shows many of them at once. */
const MOST_BYTES = 256 * 1024;
const KEPT = 2000;
const DATA = /^data:image\/(?:svg\+xml|png|jpeg|gif|webp)[;,]/;

/** What is known of logos by the object id of their file. */
const known = new Map<string, string | undefined>();

/** What is wrong with the logo of an Extension: a path in the repository, an https URL, or a data URI. */
export async function logoFault(tree: FileTree, logo: string | undefined): Promise<string | undefined> {
  if (logo === undefined || /^https:\/\/[^\s]+$/.test(logo) || DATA.test(logo)) return undefined;
  if (/^[a-z][a-z0-9+.-]*:/i.test(logo))
    return `spec.logo must be a path in the repository, an https URL or a data URI of an image, found ${JSON.stringify(logo.slice(0, 40))}`;
  try {
    const id = await tree.id(logo);
    if (id === undefined) return `spec.logo: ${JSON.stringify(logo)} does not exist at this commit`;
    if (!known.has(id)) {
      if (known.size >= KEPT) known.clear();
      known.set(id, faultOf(await tree.read(logo)));
    }
    const fault = known.get(id);
    return fault === undefined ? undefined : `spec.logo: ${logo} ${fault}`;
  } catch (error) {
    if (isError(error, 'GitUnsafePath', 'GitTooLarge')) return `spec.logo: ${error.message}`;
    throw error;
  }
}

function faultOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return 'is no file';
  if (bytes.length > MOST_BYTES)
    return `has ${Math.ceil(bytes.length / 1024)} KiB, and a logo may have ${MOST_BYTES / 1024}: make it smaller`;
  const start = Buffer.from(bytes.subarray(0, 512));
  const isImage =
    /^(?:\xef\xbb\xbf)?\s*<(?:\?xml|svg|!--|!DOCTYPE svg)/.test(start.toString('latin1')) ||
    ['89504e47', 'ffd8ff', '47494638', '52494646'].some((magic) => start.toString('hex').startsWith(magic));
  return isImage ? undefined : 'is no image: use SVG, PNG, JPEG, GIF or WebP';
}
