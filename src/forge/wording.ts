import { createHash } from 'node:crypto';

const HASH_LENGTH = 8;

/** A name within a forge's limit. A longer one ends in a hash of the whole, so that two never become the same. */
export function shortName(name: string, most: number): string {
  if (name.length <= most) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, most - HASH_LENGTH - 1)}-${hash}`;
}

/** A link that a forge may show, undefined for anything but http and https. */
export function webLink(url: string | undefined): string | undefined {
  const parsed = url === undefined ? null : URL.parse(url);
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : undefined;
}
