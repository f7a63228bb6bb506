import { writeShallow } from './layout.ts';
import { parseCommit } from './objects.ts';
import type { ObjectStore } from './objectstore.ts';

/**
 * Writes down which of these commits are stored without all of their parents. To call after packs came or went; before, the file
 * must hold at least these: a server is told by it what not to count on, and history that seems longer than it is loses objects.
 */
export async function settleShallow(dir: string, store: ObjectStore, candidates: Set<string>): Promise<void> {
  const shallow = new Set<string>();
  for (const oid of candidates) {
    const object = await store.read(oid);
    if (object?.type !== 'commit') continue;
    for (const parent of parseCommit(oid, object.data).parents) {
      if (!(await store.has(parent))) shallow.add(oid);
    }
  }
  await writeShallow(dir, shallow);
}
