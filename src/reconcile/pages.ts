import { syncText } from '../report/page-text.ts';
import { pullOnRecord } from './pulls/records.ts';
import type { SyncParts } from './sync-parts.ts';
import { pluginsOf } from './sync-plugins.ts';

/** What is shown of a Sync over HTTP; undefined when there is none, or another replica leads. */
export function syncPage(parts: SyncParts | undefined, key: string): string | undefined {
  const sync = parts?.syncs.get(key);
  return parts === undefined || sync === undefined ? undefined : syncText(sync, [...pluginsOf(parts, key)]);
}

/** The whole plan of a pull request; undefined when there is none on record. */
export function planPage(parts: SyncParts | undefined, key: string, number: number): string | undefined {
  const known = parts?.pulls.plan(`${key}/${number}`);
  if (known !== undefined || pullOnRecord(parts?.syncs.get(key), number) === undefined) return known;
  return `Not planned since this agent began to lead. Run: espalier plan --sync ${key.slice(key.indexOf('/') + 1)} --pr ${number}\n`;
}
