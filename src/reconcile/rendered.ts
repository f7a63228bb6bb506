import type { KubeObject } from '../api/index.ts';
import type { RenderedRelease } from './rendered-release.ts';

/** What a key rendered to. */
export interface Rendered {
  objects: readonly KubeObject[];
  /** Hash of each object by reference key. */
  hashes: ReadonlyMap<string, string>;
  warnings: readonly string[];
  /** Images that come from where none should: no rule of the Sync leads them elsewhere. Whether that is told is not decided here. */
  imagesLeft: readonly string[];
  /** Images that the chart itself says it needs, beside those of its objects: text in YAML. */
  chartImages?: string;
  /** Objects that need only exist, such as a namespace that several Plugins ask for. */
  ensure: ReadonlySet<string>;
  /** The key under which an object runs once, by reference key. Nothing of a Helm release does: that has hooks. */
  once: ReadonlyMap<string, string>;
  /** Those of `objects` that define kinds for the chart and are no part of its release: never downgraded. */
  definitions: ReadonlySet<string>;
  /** What makes it a Helm release. */
  release?: RenderedRelease;
  /** What the source says of its own version, where it has one. */
  version: { chart?: string; version?: string; app?: string };
  /** Why there is nothing on purpose: then nothing is held for it. */
  whyEmpty?: string;
  bytes: number;
  /**
   * Objects of kinds that nobody serves yet, by the key they have and the key they would have in a namespace: which it
   * is can't be told, so they are not sent, and rendered again next time.
   */
  undecided: ReadonlyMap<string, string>;
}

/**
 * Rendered objects by content key, so that a repair or the next stage doesn't render again. Bounded: the least recently
 * used go first. Rendering twice at once under one key is one rendering.
 */
export class RenderCache {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Rendered>();
  readonly #flights = new Map<string, Promise<Rendered>>();
  #bytes = 0;

  constructor(maxBytes = 32 * 1024 * 1024) {
    this.#maxBytes = maxBytes;
  }

  /** What is kept, without rendering. */
  peek(key: string): Rendered | undefined {
    return this.#entries.get(key);
  }

  /** What is kept no longer holds. */
  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  async get(key: string, render: () => Promise<Rendered>): Promise<Rendered> {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known;
    }
    const flight = this.#flights.get(key);
    if (flight !== undefined) return await flight;
    const started = render();
    this.#flights.set(key, started);
    try {
      const rendered = await started;
      this.#keep(key, rendered);
      return rendered;
    } finally {
      this.#flights.delete(key);
    }
  }

  #keep(key: string, rendered: Rendered): void {
    if (rendered.undecided.size > 0 || rendered.bytes > this.#maxBytes / 2) return;
    this.#entries.set(key, rendered);
    this.#bytes += rendered.bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.#bytes -= entry.bytes;
    }
  }
}
