import { EspalierError } from '../api/index.ts';
import { isRefused } from './ask.ts';
import type { Comment, OwnComment } from './forge.ts';
import { bears, isMarked, sameText, withMarker } from './marker.ts';

/** A comment as a forge keeps it. */
export interface StoredComment {
  id: string;
  body: string;
  /** Written by the account that the agent logs in as. */
  ours: boolean;
}

/** What a forge can do with comments on one pull request. */
export interface CommentStore {
  list(): Promise<StoredComment[]>;
  create(body: string): Promise<string>;
  /** Refused with 404 or 410 where it is gone. */
  update(id: string, body: string): Promise<void>;
}

/**
 * Writes or changes the agent's comment. A known id is tried first; where that comment is gone, ours with the marker is
 * looked for, and written anew when there is none. A comment of somebody else is never taken for ours, whatever it says.
 */
export async function upsertOwn(store: CommentStore, comment: OwnComment, most: number): Promise<string> {
  if (comment.body.length > most) {
    throw new EspalierError(
      'ForgeRefused',
      `A comment of ${comment.body.length} characters is longer than the ${most} that the forge takes.`,
      { retry: false },
    );
  }
  const body = withMarker(comment.body, comment.marker);
  if (comment.id !== undefined) {
    try {
      await store.update(comment.id, body);
      return comment.id;
    } catch (error) {
      if (!isRefused(error, 404, 410)) throw error;
    }
  }
  const found = (await store.list()).find((stored) => stored.ours && bears(stored.body, comment.marker));
  if (found === undefined) return store.create(body);
  if (!sameText(found.body, body)) await store.update(found.id, body);
  return found.id;
}

/** What others wrote, oldest first. A person may share the agent's account: only what bears a marker is the agent's. */
export function fromOthers(comments: readonly (Comment & StoredComment)[]): Comment[] {
  return comments
    .filter(({ ours, body }) => !(ours && isMarked(body)))
    .map(({ ours: _, ...comment }) => comment)
    .sort((a, b) => a.writtenAt - b.writtenAt);
}
