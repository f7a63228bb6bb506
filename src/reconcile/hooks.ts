import type { ObjectRef, Sync } from '../api/index.ts';
import { readHook } from '../forge/hook.ts';
import { isProven } from '../forge/proof.ts';
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
  headers: Headers,
  body: Uint8Array,
): HookVerdict {
  const sync = parts?.syncs.get(key);
  const [ref] = sync === undefined ? [] : hookRefs(sync);
  if (parts === undefined || sync === undefined || ref === undefined) return REFUSED;
  const secret = parts.outside.get(ref);
  const known = typeof secret === 'string' ? undefined : secretData(secret)[HOOK_SECRET_KEY];
  if (!isProven(headers, body, known, sync.spec.forge?.kind)) return REFUSED;
  const { about, delivery } = readHook(headers, body);
  if (parts.deliveries.isReplay(key, delivery)) return { status: 202, text: 'this came before' };
  if (about === 'push') parts.wakeSync(key, { poll: true });
  if (about === 'push' || about === 'pull-request' || about === 'comment') {
    parts.pulls.hint(key);
    parts.wakePulls(key);
  }
  return { status: 202, text: ANSWERS[about] };
}

const ANSWERS = {
  push: 'looking at Git',
  'pull-request': 'looking at pull requests',
  comment: 'looking at comments',
  ping: 'heard',
  other: 'not of interest',
} as const;
