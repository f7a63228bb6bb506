import { createHash } from 'node:crypto';
import { DNS_SUBDOMAIN } from './patterns.ts';

const SAFE_NAME = new RegExp(`^${DNS_SUBDOMAIN}$`);

/** A name that Kubernetes takes, the same for the same text and another for any other. What is fine already stays as it is. */
export function safeName(wanted: string, longest = 253): string {
  const safe = wanted.toLowerCase().replace(/[^a-z0-9.-]+/g, '-');
  if (safe === wanted && safe.length <= longest && SAFE_NAME.test(safe)) return safe;
  const parts = safe.split(/[.-]*[.][.-]*/).filter((part) => part !== '');
  const hash = createHash('sha256').update(wanted).digest('hex').slice(0, 8);
  const kept = parts.join('.').slice(0, longest - hash.length - 1);
  return `${kept.replace(/[.-]+$/, '')}-${hash}`;
}
