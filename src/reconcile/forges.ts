import { EspalierError, type ObjectRef, type Sync } from '../api/index.ts';
import type { Forge } from '../forge/forge.ts';
import { Gates } from '../forge/limit.ts';
import { openForge } from '../forge/open-forge.ts';
import type { UrlPolicy } from '../git/url.ts';
import type { Clock } from '../runtime/clock.ts';
import type { OutsideObjects } from './outside.ts';
import { secretData } from './secret-data.ts';
import { Sources } from './sources.ts';
import { keyOf } from './store.ts';

export interface ForgesOptions {
  outside: Pick<OutsideObjects, 'get'>;
  policy: UrlPolicy;
  clock: Clock;
}

/** Open forges, one for each Sync that has one; opened again when its Secret or its declaration changes. */
export class Forges {
  readonly #options: ForgesOptions;
  readonly #gates = new Gates();
  readonly #open = new Map<string, { version: string; forge: Forge }>();

  constructor(options: ForgesOptions) {
    this.#options = options;
  }

  /** The Secrets and ConfigMaps that must be watched before `of` can answer. */
  static refsOf({ metadata, spec }: Sync): ObjectRef[] {
    const { caRef, url } = spec.repository;
    if (spec.forge === undefined) return [];
    const of = { url, secretRef: spec.forge.secretRef, ...(caRef === undefined ? {} : { caRef }) };
    return Sources.refsOf(metadata.namespace ?? '', of);
  }

  /** Undefined where there is none, or what it needs has not been seen yet: its watch wakes the Sync. */
  of(sync: Sync): Forge | undefined {
    const key = keyOf(sync);
    const { forge: spec, repository } = sync.spec;
    if (spec === undefined) {
      this.forget(key);
      return undefined;
    }
    const namespace = sync.metadata.namespace ?? '';
    const data = new Map<string, Readonly<Record<string, string>>>();
    const versions: string[] = [];
    for (const ref of Forges.refsOf(sync)) {
      const object = this.#options.outside.get(ref);
      if (object === 'unknown') return undefined;
      if (object === 'absent') {
        throw new EspalierError(
          'ForgeAuthFailed',
          `there is no ${ref.kind} ${ref.name} in namespace ${namespace}, which spec.forge of the Sync needs; make it, or name another one`,
        );
      }
      versions.push(object.metadata.resourceVersion ?? '');
      data.set(`${ref.kind} ${ref.name}`, secretData(object));
    }
    const version = JSON.stringify([versions, spec.kind, spec.url, repository.url, repository.proxy]);
    const known = this.#open.get(key);
    if (known?.version === version) return known.forge;
    this.forget(key);
    const { caRef, proxy } = repository;
    const forge = openForge({
      kind: spec.kind,
      repositoryUrl: repository.url,
      url: spec.url,
      secret: { ...data.get(`Secret ${spec.secretRef.name}`) },
      policy: this.#options.policy,
      caBundle: caRef === undefined ? undefined : data.get(`${caRef.kind} ${caRef.name}`)?.[caRef.key],
      proxy: proxy === undefined ? undefined : { url: proxy },
      now: () => this.#options.clock.now(),
      gates: this.#gates,
    });
    this.#open.set(key, { version, forge });
    return forge;
  }

  forget(key: string): void {
    const known = this.#open.get(key);
    this.#open.delete(key);
    void known?.forge.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ forge }) => forge.close()));
    this.#open.clear();
  }
}
