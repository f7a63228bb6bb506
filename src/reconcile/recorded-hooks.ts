import type { Release } from '../release/record.ts';
import { parseText } from '../render/parse-stream.ts';
import type { ReadyHook } from './rendered-release.ts';

/** The hooks of a revision, with their objects as they stand on its record: without a namespace that is implied. */
export async function recordedHooks(record: Release, signal?: AbortSignal): Promise<ReadyHook[]> {
  const found: ReadyHook[] = [];
  for (const hook of record.hooks ?? []) {
    const title = `revision ${record.version} of release ${record.name}, hook ${hook.name}`;
    const [object] = await parseText(hook.manifest, title, signal);
    if (object !== undefined) found.push({ hook, object });
  }
  return found;
}
