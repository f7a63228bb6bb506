import { ANNOTATION } from '../api/names.ts';
import { isCurrent, isReady, type Ours, whyOf } from './standing.ts';

/** How far the agent got with a request to reconcile. */
export interface Progress {
  /** `stopped`: it has nothing more to do for now, and the object is not ready. */
  state: 'unanswered' | 'working' | 'ready' | 'stopped';
  /** What the object says of itself: `Failed: cannot fetch`. */
  standing: string;
}

const STOPPED: readonly string[] = ['Failed', 'Held', 'Suspended'];

/** Judges the object as it is now against the request, which is the value that its annotation was given. */
export function progressOf(object: Ours, request: string): Progress {
  const why = whyOf(object);
  const phase = object.status?.phase ?? 'Pending';
  if (!isAnswered(object, request)) return { state: 'unanswered', standing: `${phase}: ${why}` };
  if (isReady(object)) return { state: 'ready', standing: why };
  const stopped = STOPPED.includes(phase) && isCurrent(object) && object.metadata.deletionTimestamp === undefined;
  return { state: stopped ? 'stopped' : 'working', standing: `${phase}: ${why}` };
}

/** Somebody may have asked again since: whoever answers them has seen our request too. */
function isAnswered({ metadata, status }: Ours, request: string): boolean {
  const answered = status?.lastHandledReconcileAt;
  if (answered === undefined) return false;
  return answered === request || (answered === metadata.annotations?.[ANNOTATION.reconcileAt] && answered > request);
}
