import type { ObjectRef, Sync } from '../api/index.ts';
import { secretData } from './secret-data.ts';
import type { SyncParts } from './sync-parts.ts';

export interface HookVerdict {
  status: 202 | 401;
  text: string;
}

const REFUSED: HookVerdict = { status: 401, text: 'this is not signed with the webhook secret of that Sync' };
export const HOOK_SECRET_KEY = 'webhookSecret';

/** The Secret whose key `webhookSecret` proves webhooks: it must be watched before one can be believed. */
export function hookRefs({ metadata, spec }: Sync): ObjectRef[] {
  const secret = spec.forge?.secretRef ?? spec.repository.secretRef;
  return secret === undefined
    ? []
    : [{ apiVersion: 'v1', kind: 'Secret', namespace: metadata.namespace ?? '', name: secret.name }];
}

/**
 * A webhook is only a hint to look now: what it says is not believed. Whether the Sync exists is told to nobody who
 * can't prove that they know its secret.
 */
export function receiveHook(
  parts: SyncParts | undefined,
  key: string,
  isProven: (secret: string | undefined) => boolean,
): HookVerdict {
  const sync = parts?.syncs.get(key);
  const [ref] = sync === undefined ? [] : hookRefs(sync);
  if (parts === undefined || ref === undefined) return REFUSED;
  const secret = parts.outside.get(ref);
  const known = typeof secret === 'string' ? undefined : secretData(secret)[HOOK_SECRET_KEY];
  if (!isProven(known)) return REFUSED;
  parts.wakeSync(key, { poll: true });
  return { status: 202, text: 'looking at Git' };
}
