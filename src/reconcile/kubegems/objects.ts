import { type EspalierError, isError, type KubeObject } from '../../api/index.ts';
import type { KubeClient } from '../../cluster/client.ts';
import { type Watch, watchObjects } from '../../cluster/watch.ts';
import { KUBEGEMS_API_VERSION } from '../../compat/kubegems-kind.ts';
import { isOlder } from '../../converge/departed.ts';
import { keyOf } from '../store.ts';

export interface KubegemsOptions {
  client: KubeClient;
  onlyNamespace: string | undefined;
  signal: AbortSignal;
  wake(key: string, options?: { after?: number }): void;
  onTrouble(error: EspalierError): void;
}

/** The key under which it is decided whether KubeGems objects are looked after at all. */
export const WHETHER = '*';
const SERVED_AGAIN_MS = 5_000;

/** The KubeGems objects of the cluster, in memory while somebody wants them looked after. */
export class KubegemsObjects {
  readonly #options: KubegemsOptions;
  readonly #objects = new Map<string, KubeObject>();
  /** What was written as status, and what the API server made of it. */
  readonly #told = new Map<string, { status: string; kept: string }>();
  #watch: Watch | undefined;
  /** Whether objects that an earlier time looked after have been let go. */
  hasLetGo = false;

  constructor(options: KubegemsOptions) {
    this.#options = options;
  }

  get target() {
    const { onlyNamespace } = this.#options;
    const target = { apiVersion: KUBEGEMS_API_VERSION, kind: 'Plugin' };
    return onlyNamespace === undefined ? target : { ...target, namespace: onlyNamespace };
  }

  get isFollowing(): boolean {
    return this.#watch !== undefined;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  keys(): string[] {
    return [...this.#objects.keys()];
  }

  follow(): void {
    const { client, signal, wake, onTrouble } = this.#options;
    const onEvent = (type: 'added' | 'modified' | 'deleted', object: KubeObject): void => {
      const key = keyOf(object);
      if (type !== 'deleted') this.put(object);
      else for (const one of [this.#objects, this.#told]) one.delete(key);
      wake(key);
    };
    const onError = (error: EspalierError): void => {
      onTrouble(error);
      // Somebody deleted the definition.
      if (isError(error, 'KubeKindUnknown')) wake(WHETHER, { after: SERVED_AGAIN_MS });
    };
    this.#watch ??= watchObjects(client, this.target, { onEvent, onError }, { signal });
  }

  /** From the watch or as the answer to a write, whichever is newer. */
  put(object: KubeObject): void {
    const key = keyOf(object);
    const before = this.#objects.get(key)?.metadata;
    if (before?.uid === object.metadata.uid && isOlder(object.metadata.resourceVersion, before?.resourceVersion))
      return;
    this.#objects.set(key, object);
  }

  /** A status was written; the answer is the object as it is now. */
  told(object: KubeObject, status: object): void {
    this.#told.set(keyOf(object), { status: JSON.stringify(status), kept: JSON.stringify(object.status) });
    this.put(object);
  }

  /** Somebody else's definition drops fields that it does not know: they are not written again and again. */
  hasTold(object: KubeObject, status: object): boolean {
    const told = this.#told.get(keyOf(object));
    return told?.status === JSON.stringify(status) && told.kept === JSON.stringify(object.status);
  }

  async leave(): Promise<void> {
    const watch = this.#watch;
    this.#watch = undefined;
    this.#objects.clear();
    this.#told.clear();
    await watch?.stop();
  }
}
