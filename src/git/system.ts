import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError, isError } from '../api/index.ts';
import type { Backend, FetchRequest, FetchResult, PushRequest, RemoteRef } from './backend.ts';
import { type GitProgramOptions, runRemote } from './gitprogram.ts';
import {
  INCOMING_REF,
  listPacks,
  packFolder,
  readShallow,
  removePacks,
  removeRef,
  sweepInterrupted,
  writeShallow,
} from './layout.ts';
import { describeBytes, type GitLimits } from './limits.ts';
import { isOid } from './objects.ts';
import type { ObjectStore } from './objectstore.ts';
import { storePack } from './storepack.ts';

/** How often a pack that arrives is measured. */
const MEASURE_MS = 200;

export interface SystemOptions extends GitProgramOptions {
  limits: GitLimits;
  store: ObjectStore;
  authorizePush(signal: AbortSignal): Promise<string | undefined>;
}

/** Lets the program `git` talk: the way to SSH, and the faster one for large repositories. */
export function systemBackend(options: SystemOptions): Backend {
  const { dir, store, limits, url } = options;

  async function listRefs(prefixes: string[], signal: AbortSignal): Promise<RemoteRef[]> {
    const output = await runRemote(
      options,
      ['ls-remote', '--quiet', '--symref', ...selection(prefixes, url.href)],
      signal,
    );
    if (output.length > limits.listingBytes) {
      throw new EspalierError(
        'GitTooLarge',
        `The repository lists more than ${describeBytes(limits.listingBytes)} of branches and tags.`,
      );
    }
    return parseListing(output).filter(({ ref }) => prefixes.some((prefix) => ref.startsWith(prefix)));
  }

  async function fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchResult> {
    const { commit, ref, depth } = request;
    const before = new Set((await listPacks(dir)).map(({ name }) => name));
    const shallow = await readShallow(dir);
    const giveUp = new AbortController();
    const measure = setInterval(() => {
      void incomingBytes(dir).then((bytes) => bytes > limits.packBytes && giveUp.abort());
    }, MEASURE_MS);
    try {
      const both = AbortSignal.any([signal, giveUp.signal]);
      // Some servers give out a commit only by a ref that leads to it; others have moved the ref meanwhile.
      if (ref !== undefined) await fetchSource(ref, depth, both);
      if (ref === undefined || !(await store.has(commit))) await fetchSource(commit, depth, both);
      const bytes = (await listPacks(dir))
        .filter(({ name }) => !before.has(name))
        .reduce((sum, pack) => sum + pack.bytes, 0);
      if (bytes > limits.packBytes) giveUp.abort();
      else return { bytes };
    } catch (error) {
      await sweepInterrupted(dir);
      if (!giveUp.signal.aborted) throw error;
    } finally {
      clearInterval(measure);
    }
    await undo(before, shallow);
    throw new EspalierError(
      'GitTooLarge',
      `The repository sends more than ${describeBytes(limits.packBytes)}; raise the limit or point at a smaller one.`,
    );
  }

  async function fetchSource(source: string, depth: number, signal: AbortSignal): Promise<void> {
    const flags = [
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-recurse-submodules',
      '--force',
      `--depth=${depth}`,
    ];
    await runRemote(options, ['fetch', ...flags, '--', url.href, `+${source}:${INCOMING_REF}`], signal);
  }

  async function undo(before: Set<string>, shallow: Set<string>): Promise<void> {
    await removeRef(dir, INCOMING_REF);
    await removePacks(
      dir,
      (await listPacks(dir)).map(({ name }) => name).filter((name) => !before.has(name)),
    );
    await writeShallow(dir, shallow);
  }

  async function push({ ref, from, commit, pack }: PushRequest, signal: AbortSignal): Promise<void> {
    await storePack(dir, pack, limits, signal);
    const authorized = { ...options, authorize: options.authorizePush };
    // A comparison, no force: the commit descends from `from`, which git itself can't tell where history is cut short.
    const lease = `--force-with-lease=${ref}:${from ?? ''}`;
    await runRemote(authorized, ['push', '--quiet', '--no-verify', lease, '--', url.href, `${commit}:${ref}`], signal);
  }

  return { name: 'system', listRefs, fetch, push, close: async () => undefined };
}

/** Lets the server filter where git can ask it to; what is too much is left out afterwards. */
function selection(prefixes: string[], url: string): string[] {
  if (prefixes.every((prefix) => prefix.startsWith('refs/tags/'))) return ['--tags', '--', url];
  if (prefixes.every((prefix) => prefix === 'refs/heads/')) return ['--heads', '--', url];
  if (prefixes.every((prefix) => prefix === 'HEAD' || (prefix.startsWith('refs/') && !prefix.endsWith('/'))))
    return ['--', url, ...prefixes];
  return ['--', url];
}

function parseListing(output: string): RemoteRef[] {
  const refs = new Map<string, RemoteRef>();
  const targets = new Map<string, string>();
  for (const line of output.split('\n').filter((text) => text !== '')) {
    const [value = '', name = ''] = line.split('\t');
    if (value.startsWith('ref: ')) targets.set(name, value.slice(5));
    else if (!isOid(value))
      throw new EspalierError('GitProtocolError', 'The list of refs has a line of an unknown form.');
    else if (name.endsWith('^{}')) Object.assign(refs.get(name.slice(0, -3)) ?? {}, { peeled: value });
    else refs.set(name, { ref: name, oid: value });
  }
  for (const [name, target] of targets) Object.assign(refs.get(name) ?? {}, { target });
  return [...refs.values()];
}

async function incomingBytes(dir: string): Promise<number> {
  let bytes = 0;
  try {
    for (const name of await readdir(packFolder(dir))) {
      if (name.startsWith('tmp_')) bytes += (await stat(join(packFolder(dir), name))).size;
    }
  } catch (error) {
    // A file may be renamed while it is looked at.
    if (isError(error)) throw error;
  }
  return bytes;
}
