import { syncText } from '../report/page-text.ts';
import type { SyncParts } from './sync-parts.ts';
import { pluginsOf } from './sync-plugins.ts';

/** What is shown of a Sync over HTTP; undefined when there is none, or another replica leads. */
export function syncPage(parts: SyncParts | undefined, key: string): string | undefined {
  const sync = parts?.syncs.get(key);
  return parts === undefined || sync === undefined ? undefined : syncText(sync, [...pluginsOf(parts, key)]);
}
