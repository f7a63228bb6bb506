import { type KubeObject, refKey, refOf } from '../api/index.ts';
import { shorten } from '../api/one-line.ts';
import { celHealth } from '../cluster/celhealth.ts';
import { healthOf } from '../cluster/health.ts';

const MESSAGE_LENGTH = 120;

/** How all objects of a selection are. Keeps how many there are, and of those that are not healthy why; no objects. */
export class SelectedHealth {
  readonly #why = new Map<string, string>();
  readonly #expression: string | undefined;
  #count = 0;

  /** `expression`: CEL, in place of the usual rules. */
  constructor(expression?: string) {
    this.#expression = expression;
  }

  /** Follows what a watch tells, in its order. */
  change(type: 'added' | 'modified' | 'deleted', object: KubeObject): void {
    const key = refKey(refOf(object));
    if (type === 'added') this.#count++;
    if (type === 'deleted') {
      this.#count--;
      this.#why.delete(key);
      return;
    }
    const health = this.#expression === undefined ? healthOf(object) : celHealth(object, this.#expression);
    if (health.state === 'healthy') this.#why.delete(key);
    else this.#why.set(key, `${object.metadata.name}: ${shorten(health.message, MESSAGE_LENGTH) || health.state}`);
  }

  /** Names the one that was not healthy first; undefined when all are, and there is one. */
  whyNot(): string | undefined {
    if (this.#count === 0) return 'there is none';
    const [first] = this.#why.values();
    if (first === undefined) return undefined;
    return this.#why.size === 1 ? first : `${first} (and ${this.#why.size - 1} more)`;
  }
}
