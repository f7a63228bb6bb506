import type { KubeObject, ObjectMeta } from '../api/index.ts';
import type { ListTarget, WatchLine } from './kubeclient.ts';

export type Deliver = (type: 'added' | 'modified' | 'deleted', object: KubeObject) => void;

/** One walk over a complete list. */
export interface ListRound {
  see(object: KubeObject): void;
  /** The list began anew: what was seen so far proves nothing. */
  restart(): void;
  /** The list was complete: what was not seen is deleted. Never call it after an error. */
  end(): void;
}

/** What a watch remembers: uid and resourceVersion by key. Tells each change once, in whatever way it was learnt. */
export interface KnownObjects {
  begin(): ListRound;
  change(type: Exclude<WatchLine['type'], 'BOOKMARK'>, object: KubeObject): void;
  keys(): Set<string>;
}

interface Known {
  uid: string;
  resourceVersion: string;
}

export function createKnownObjects(target: ListTarget, deliver: Deliver): KnownObjects {
  const known = new Map<string, Known>();

  function upsert(object: KubeObject): void {
    const key = keyOf(object.metadata);
    const before = known.get(key);
    const { uid = '', resourceVersion = '' } = object.metadata;
    if (before?.uid === uid && before.resourceVersion === resourceVersion) return;
    if (before !== undefined && before.uid !== uid) remove(key, before);
    const isNew = !known.has(key);
    known.set(key, { uid, resourceVersion });
    deliver(isNew ? 'added' : 'modified', object);
  }

  function remove(key: string, { uid, resourceVersion }: Known): void {
    known.delete(key);
    deliver('deleted', {
      apiVersion: target.apiVersion,
      kind: target.kind,
      metadata: { ...nameOf(key), uid, resourceVersion },
    });
  }

  return {
    begin() {
      let seen = new Set<string>();
      return {
        see(object) {
          seen.add(keyOf(object.metadata));
          upsert(object);
        },
        restart() {
          seen = new Set();
        },
        end() {
          for (const [key, before] of known) if (!seen.has(key)) remove(key, before);
        },
      };
    },
    change(type, object) {
      if (type !== 'DELETED') return upsert(object);
      if (known.delete(keyOf(object.metadata))) deliver('deleted', object);
    },
    keys: () => new Set(known.keys()),
  };
}

function keyOf({ namespace, name }: ObjectMeta): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function nameOf(key: string): Pick<ObjectMeta, 'name' | 'namespace'> {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
