import { type KubeObject, LABEL, type ObjectRef, refKey, reportedOn } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { type Watch, type WatchHandlers, watchObjects } from '../cluster/watch.ts';
import { type Current, newestRecord, type Whose } from './newest.ts';

type Seen = 'True' | 'not true' | 'absent';

export interface DelegationWatchOptions extends Whose {
  client: KubeClient;
  namespace: string;
  signal: AbortSignal;
  /** There is something to do about a condition that was not there before. */
  onNews(condition: string): void;
  onTrouble(what: string, error: Error): void;
}

/** Follows the record that holds now, and the custom object that it names. */
export class DelegationWatch {
  readonly #options: DelegationWatchOptions;
  readonly #records = new Map<string, KubeObject>();
  readonly #seen = new Map<string, Seen>();
  #current: Current | undefined;
  #replaced = new AbortController();
  #object: { key: string; watch: Watch } | undefined;

  constructor(options: DelegationWatchOptions) {
    this.#options = options;
    const { client, namespace, expansion, signal } = options;
    const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace, labelSelector: `${LABEL.expansion}=${expansion}` };
    const handlers = this.#handlers('records', (type, object) => {
      if (type === 'deleted') this.#records.delete(object.metadata.name);
      else this.#records.set(object.metadata.name, object);
      this.#choose();
    });
    watchObjects(client, target, handlers, { signal });
  }

  /** What is delegated now; `replaced` is aborted when that is no longer so. */
  current(): (Current & { replaced: AbortSignal }) | undefined {
    return this.#current === undefined ? undefined : { ...this.#current, replaced: this.#replaced.signal };
  }

  #choose(): void {
    const before = this.#current;
    const next = newestRecord(this.#records.values(), this.#options);
    this.#current = next;
    if (next === undefined || next.uid !== before?.uid) {
      this.#replaced.abort();
      this.#replaced = new AbortController();
      this.#seen.clear();
    }
    this.#follow(next?.delegation.on);
    const record = next === undefined ? undefined : this.#records.get(next.delegation.record.name);
    if (next?.delegation.on === undefined) this.#look(record);
  }

  /** The object is watched by its name, which is all that the operator may see of its kind. */
  #follow(on: ObjectRef | undefined): void {
    const key = on === undefined ? undefined : refKey(on);
    if (this.#object?.key === key) return;
    void this.#object?.watch.stop();
    this.#object = undefined;
    if (on === undefined || key === undefined) return;
    const { apiVersion, kind, name, namespace } = on;
    const place = namespace === undefined ? { apiVersion, kind } : { apiVersion, kind, namespace };
    const handlers = this.#handlers(`${kind} ${name}`, (type, object) =>
      this.#look(type === 'deleted' ? undefined : object),
    );
    const { client, signal } = this.#options;
    const watch = watchObjects(client, { ...place, fieldSelector: `metadata.name=${name}` }, handlers, { signal });
    this.#object = { key, watch };
  }

  /**
   * News is a condition that nobody saw before, or that was true or there and no longer is. What else is written while it
   * is not true is mostly our own.
   */
  #look(object: KubeObject | undefined): void {
    if (object === undefined) {
      this.#seen.clear();
      return;
    }
    for (const condition of this.#current?.delegation.conditions ?? []) {
      const reported = reportedOn(object, condition);
      const now: Seen = reported === undefined ? 'absent' : reported.status === 'True' ? 'True' : 'not true';
      const before = this.#seen.get(condition);
      this.#seen.set(condition, now);
      const isLost = now !== before && (before === 'True' || now === 'absent');
      if (now !== 'True' && (before === undefined || isLost)) this.#options.onNews(condition);
    }
  }

  #handlers(what: string, onEvent: WatchHandlers['onEvent']): WatchHandlers {
    return { onEvent, onError: (error) => this.#options.onTrouble(what, error) };
  }
}
