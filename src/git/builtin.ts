import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import git from 'isomorphic-git';
import { isError } from '../api/index.ts';
import type { Backend, FetchRequest, FetchResult, PushRequest, RemoteRef } from './backend.ts';
import { indexPack } from './indexpack.ts';
import { HEAD_REF, packFolder, placePack, readShallow, temporaryPath, writeShallow } from './layout.ts';
import { isOid } from './objects.ts';
import type { ObjectStore } from './objectstore.ts';
import { PackSink } from './packsink.ts';
import { pushOverHttps } from './push.ts';
import { unsupported } from './serveranswer.ts';
import { settleShallow } from './shallow.ts';
import { type ServerMemory, type SmartOptions, smartClient } from './smart.ts';

export interface BuiltinOptions extends SmartOptions {
  dir: string;
  store: ObjectStore;
  /** Login for what is written: the token of a GitHub App may be asked for less else. */
  authorizePush(signal: AbortSignal): Promise<string | undefined>;
}

/** Speaks to https servers without any program: isomorphic-git does the talking, our own code takes what arrives. */
export function builtinBackend(options: BuiltinOptions): Backend {
  const { dir, url, store, limits } = options;
  const memory: ServerMemory = { base: undefined, said: new Map() };

  async function listRefs(prefixes: string[], signal: AbortSignal): Promise<RemoteRef[]> {
    const found = new Map<string, RemoteRef>();
    for (const prefix of prefixes) {
      const http = smartClient(options, memory, signal);
      const refs = await git.listServerRefs({ http, url, prefix, protocolVersion: 2, symrefs: true, peelTags: true });
      http.rethrow();
      for (const { ref, oid, peeled, target } of refs) {
        if (!isOid(oid)) throw unsupported('object ids of an unknown form');
        if (!ref.startsWith(prefix)) continue;
        found.set(ref, {
          ref,
          oid,
          ...(peeled === undefined ? {} : { peeled }),
          ...(target === undefined ? {} : { target }),
        });
      }
    }
    return [...found.values()];
  }

  async function fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchResult> {
    try {
      return await fetchSource(request.commit, request, signal);
    } catch (error) {
      // Some servers give out a commit only by a ref that leads to it.
      if (!isError(error, 'GitRefMissing') || request.ref === undefined) throw error;
      return fetchSource(request.ref, request, signal);
    }
  }

  async function fetchSource(source: string, request: FetchRequest, signal: AbortSignal): Promise<FetchResult> {
    const scratch = temporaryPath(dir);
    const sink = new PackSink(temporaryPath(packFolder(dir)), limits);
    try {
      await prepareScratch(scratch, request.have);
      await negotiate(scratch, source, request.depth, sink, signal);
      const pack = await sink.finish();
      const shallow = new Set([...(await readShallow(dir)), ...(await readShallow(scratch))]);
      if (pack !== undefined) {
        const contents = await indexPack(pack, limits, signal, (oid, object) => store.arrived(oid, object));
        // Before the pack: history that seems shorter than it is does no harm, one that seems longer would.
        await writeShallow(dir, shallow);
        await placePack(dir, pack.path, contents);
      }
      await settleShallow(dir, store, shallow);
      return { bytes: sink.bytes, ...(pack === undefined ? {} : { pack: `pack-${pack.checksum}` }) };
    } finally {
      await sink.drop();
      await fs.rm(scratch, { recursive: true, force: true });
    }
  }

  /** What isomorphic-git looks at before it asks: the shallow file, a ref, and whether that commit's file exists. No more. */
  async function prepareScratch(scratch: string, have: string | undefined): Promise<void> {
    const write = async (path: string, text: string): Promise<void> => {
      await fs.mkdir(join(scratch, dirname(path)), { recursive: true });
      await fs.writeFile(join(scratch, path), text);
    };
    await fs.mkdir(join(scratch, 'objects', 'pack'), { recursive: true });
    const always = [
      write(
        'config',
        '[core]\n\trepositoryformatversion = 0\n\tbare = true\n[remote "origin"]\n\tfetch = +refs/none/*:refs/none/*\n',
      ),
      write('HEAD', 'ref: refs/heads/none\n'),
    ];
    if (have === undefined) return void (await Promise.all(always));
    await Promise.all([
      ...always,
      write(HEAD_REF, `${have}\n`),
      write(join('objects', have.slice(0, 2), have.slice(2)), ''),
      fs.copyFile(join(dir, 'shallow'), join(scratch, 'shallow')).catch(ignoreMissing),
    ]);
  }

  async function negotiate(
    scratch: string,
    source: string,
    depth: number,
    sink: PackSink,
    signal: AbortSignal,
  ): Promise<void> {
    const http = smartClient(options, memory, signal, { sink, byId: isOid(source) });
    const common = { fs: { promises: fs }, http, gitdir: scratch, dir: scratch, url, remote: 'origin', ref: HEAD_REF };
    try {
      await git.fetch({ ...common, remoteRef: source, singleBranch: true, tags: false, depth });
    } catch (error) {
      http.rethrow();
      // It wants to know the server's HEAD, and takes it amiss when that names a branch which does not exist.
      if (!(error instanceof git.Errors.NotFoundError && error.data.what === 'HEAD')) throw error;
      await http.drain();
    }
    http.rethrow();
  }

  const push = (request: PushRequest, signal: AbortSignal): Promise<void> =>
    pushOverHttps({ ...options, authorize: options.authorizePush }, request, signal);

  return { name: 'builtin', listRefs, fetch, push, close: async () => undefined };
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
}
