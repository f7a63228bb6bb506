import { refKey } from '../api/index.ts';
import type { Inventory } from '../converge/inventory.ts';
import { readLive } from '../converge/live.ts';
import type { Parts } from './parts.ts';

/** Objects are not kept, only what was made of them: when a rule of health is new, those that it means are read again. */
export async function judgeAnew(parts: Pick<Parts, 'client' | 'owned'>, record: Inventory): Promise<void> {
  const old = [...record.values()].filter((entry) => parts.owned.isJudgedByOldRules(refKey(entry)));
  if (old.length === 0) return;
  for (const object of (await readLive(parts.client, old)).values()) parts.owned.judgeAnew(object);
}
