import type { KubeObject } from '../api/index.ts';

/** What a Secret or ConfigMap holds, decoded. The result is for use in process only. */
export function secretData(object: KubeObject): Record<string, string> {
  const decoded: Record<string, string> = Object.create(null);
  const isSecret = object.kind === 'Secret';
  for (const [key, value] of Object.entries((object.data ?? {}) as Record<string, unknown>)) {
    if (typeof value === 'string') decoded[key] = isSecret ? Buffer.from(value, 'base64').toString('utf8') : value;
  }
  // As it is declared: the API server never gives it back.
  for (const [key, value] of Object.entries((isSecret ? (object.stringData ?? {}) : {}) as Record<string, unknown>))
    if (typeof value === 'string') decoded[key] = value;
  return decoded;
}
