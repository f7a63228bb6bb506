import { EspalierError, messageOf, type OciSource } from '../api/index.ts';
import type { ChartRequest } from '../charts/charts.ts';
import { chartCredentials } from '../charts/credentials.ts';
import type { KubeClient } from '../cluster/client.ts';
import { contentKey } from '../resolve/key.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import type { CatalogueFacts } from './catalogue-facts.ts';
import { secretData } from './secret-data.ts';

const FRESH_MS = 10 * 60_000;
/** Nobody waits longer for a registry: the rest of a revision goes on without it, and hears of it later. */
const PATIENCE_MS = 3_000;
const FIRST_RETRY_MS = 15_000;

interface Entry {
  namespace: string;
  source: OciSource;
  tags?: readonly string[];
  failure?: string;
  failures: number;
  asking?: Promise<void> | undefined;
  timer?: Timer;
}

export interface RegistryTagsOptions {
  list(request: ChartRequest, signal: AbortSignal): Promise<readonly string[]>;
  client: Pick<KubeClient, 'get'>;
  clock: Clock;
  signal: AbortSignal;
  /** Whether an Extension still names the source: nobody else's registry is asked again. */
  isNamed(source: OciSource): boolean;
  /** What is known of some registry changed. */
  onNews(): void;
}

/** The tags of registries that stand for versions of an extension: asked once, looked at again every ten minutes. */
export class RegistryTags {
  readonly #options: RegistryTagsOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: RegistryTagsOptions) {
    this.#options = options;
  }

  /** Waits for the first answer, though not for long; later answers are those of the last look. */
  readonly of: CatalogueFacts['tags'] = async (namespace, source) => {
    const key = keyFor(namespace, source);
    const entry = this.#entries.get(key) ?? { namespace, source, failures: 0 };
    if (!this.#entries.has(key)) {
      this.#entries.set(key, entry);
      this.#ask(key, entry);
    }
    if (entry.tags === undefined && entry.asking !== undefined) await this.#forAWhile(entry.asking);
    return this.#known(entry);
  };

  /** What was heard before: for who must not make anybody ask a registry. */
  readonly heard: CatalogueFacts['tags'] = async (namespace, source) => {
    const entry = this.#entries.get(keyFor(namespace, source));
    return entry === undefined ? { unknown: `${source.url} is not asked for this` } : this.#known(entry);
  };

  close(): void {
    for (const { timer } of this.#entries.values()) timer?.clear();
    this.#entries.clear();
  }

  #known({ tags, failure, source }: Entry): readonly string[] | { unknown: string } {
    return tags ?? { unknown: failure ?? `${source.url} has not answered yet` };
  }

  #ask(key: string, entry: Entry): void {
    const { clock, onNews, isNamed, signal } = this.#options;
    const before = JSON.stringify(this.#known(entry));
    entry.asking = this.#list(entry)
      .then(
        (tags) => {
          entry.tags = tags;
          entry.failures = 0;
        },
        (error: unknown) => {
          entry.failure = `${entry.source.url}: ${messageOf(error)}`;
          entry.failures += 1;
        },
      )
      .then(() => {
        entry.asking = undefined;
        if (signal.aborted || !this.#entries.has(key)) return;
        const again = entry.failures === 0 ? FRESH_MS : Math.min(FIRST_RETRY_MS * 2 ** (entry.failures - 1), FRESH_MS);
        entry.timer = clock.setTimeout(() => {
          if (isNamed(entry.source)) this.#ask(key, entry);
          else this.#entries.delete(key);
        }, again);
        if (JSON.stringify(this.#known(entry)) !== before) onNews();
      });
  }

  async #list({ namespace, source }: Entry): Promise<readonly string[]> {
    const { url, secretRef } = source;
    const request: ChartRequest = { origin: { type: 'oci', url } };
    if (secretRef === undefined) return await this.#options.list(request, this.#options.signal);
    const secret = await this.#options.client.get({
      apiVersion: 'v1',
      kind: 'Secret',
      namespace,
      name: secretRef.name,
    });
    if (secret === undefined)
      throw new EspalierError(
        'ChartAuthFailed',
        `Secret ${namespace}/${secretRef.name}, which it names, does not exist`,
      );
    const credentials = chartCredentials(secretData(secret), new URL(url).host);
    return await this.#options.list({ origin: { type: 'oci', url, credentials } }, this.#options.signal);
  }

  async #forAWhile(asking: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.clock.setTimeout(resolve, PATIENCE_MS);
    await Promise.race([asking, promise]);
    timer.clear();
  }
}

function keyFor(namespace: string, { url, secretRef }: OciSource): string {
  return contentKey({ url, secret: secretRef === undefined ? undefined : [namespace, secretRef.name] });
}
