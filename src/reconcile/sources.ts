import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { KubeObject, ObjectRef, Plugin, Sync } from '../api/index.ts';
import { createReader, type DeclarationReader } from '../declare/reader.ts';
import { type GitLimits, PROPOSAL_LIMITS } from '../git/limits.ts';
import { type GitRepository, openRepository } from '../git/repository.ts';
import type { UrlPolicy } from '../git/url.ts';
import { type FoundObject, type GitSpec, repositoryOptionsOf, repositoryRefs } from './repository-options.ts';

export interface SourcesOptions {
  /** Folder for object stores; each repository has its own below it. */
  dir: string;
  /** Which URLs and addresses may be reached. */
  policy: UrlPolicy;
  outside: { get(ref: ObjectRef): KubeObject | 'absent' | 'unknown' };
}

export interface Source {
  repository: GitRepository;
  reader: DeclarationReader;
}

/** `waiting`: what it needs is not there. `unseen`: it is not known yet whether that is there; its watch will tell. */
export type SourceAnswer = { state: 'open'; source: Source } | { state: 'waiting' | 'unseen'; why: string };

/** Open repositories, one for each URL and credentials, shared by the Sync and the Plugins that read them. */
export class Sources {
  readonly #options: SourcesOptions;
  readonly #open = new Map<string, { version: string; source: Source }>();

  constructor(options: SourcesOptions) {
    this.#options = options;
  }

  async forSync(sync: Sync): Promise<SourceAnswer> {
    return await this.#at(sync.metadata.namespace ?? '', sync.spec.repository);
  }

  /** The same for what is only proposed, in a store of its own: whatever a pull request brings stays apart. */
  async forPulls(sync: Sync): Promise<SourceAnswer> {
    return await this.#at(sync.metadata.namespace ?? '', sync.spec.repository, PROPOSAL_LIMITS);
  }

  /** The repository that a Plugin names itself. */
  async forPlugin(plugin: Plugin): Promise<SourceAnswer> {
    const { git } = plugin.spec.source;
    if (git?.url === undefined) return { state: 'waiting', why: 'a Git URL' };
    return await this.#at(plugin.metadata.namespace ?? '', {
      url: git.url,
      ...(git.secretRef === undefined ? {} : { secretRef: git.secretRef }),
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ source }) => source.repository.close()));
    this.#open.clear();
  }

  async #at(namespace: string, spec: GitSpec, limits?: GitLimits): Promise<SourceAnswer> {
    const found: FoundObject[] = [];
    for (const ref of repositoryRefs(namespace, spec)) {
      const object = this.#options.outside.get(ref);
      if (object === 'absent') {
        return { state: 'waiting', why: `${ref.kind} ${ref.name}, which does not exist in namespace ${namespace}` };
      }
      if (object === 'unknown') return { state: 'unseen', why: `${ref.kind} ${ref.name} to be read` };
      found.push([ref, object]);
    }
    const id = createHash('sha256')
      .update(JSON.stringify([namespace, spec.url, spec.secretRef?.name, spec.proxy]))
      .digest('hex')
      .slice(0, 24)
      .concat(limits === undefined ? '' : '-pulls');
    const version = found.map(([, { metadata }]) => metadata.resourceVersion ?? '').join();
    const known = this.#open.get(id);
    if (known !== undefined && known.version === version) return { state: 'open', source: known.source };
    await known?.source.repository.close();
    const repository = await openRepository({
      ...repositoryOptionsOf(spec, found),
      dir: join(this.#options.dir, id),
      allow: this.#options.policy,
      ...(limits === undefined ? {} : { limits }),
    });
    const source = { repository, reader: known?.source.reader ?? createReader() };
    this.#open.set(id, { version, source });
    return { state: 'open', source };
  }
}
