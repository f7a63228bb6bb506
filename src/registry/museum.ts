import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { EspalierError } from '../api/index.ts';
import { authorizationOf } from '../charts/credentials.ts';
import { proxyFrom } from '../charts/proxy.ts';
import { type Access, type Answer, Transport } from '../charts/transport.ts';
import { withDeadline } from '../git/deadline.ts';
import { discard, readWhole } from '../git/http.ts';
import type { Login } from './docker-config.ts';
import { asRegistryError, complain, LOST } from './failure.ts';
import type { WireOptions } from './wire.ts';

export interface ChartArchive {
  name: string;
  version: string;
  /** `sha256:…` of the archive. */
  digest: string;
  /** Its file, or its bytes. */
  archive: string | Uint8Array;
}

export interface Museum {
  /** `sha256:…` of what is there under that name and version. */
  digestOf(chart: { name: string; version: string }, signal?: AbortSignal): Promise<string | undefined>;
  /** The archive that is there under that name and version. */
  archive(chart: { name: string; version: string }, signal?: AbortSignal): Promise<Buffer>;
  push(chart: ChartArchive, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const ANSWER_BYTES = 1024 * 1024;
const ARCHIVE_BYTES = 20 * 1024 * 1024;
const PUSH_MS = 120_000;

/** ChartMuseum's API: `https://museum.example.com`, or with organisation and repository behind it. */
export function openMuseum(address: string, options: Omit<WireOptions, 'attempts' | 'longestWaitMs' | 'now'>): Museum {
  const base = museumUrl(address, options.insecure ?? []);
  const policy = { addresses: { privateAddresses: true }, plainHttp: options.insecure ?? [] };
  const transport = new Transport(policy, (url) => proxyFrom(process.env, url), LOST);
  let login: Promise<Login | undefined> | undefined;

  const api = `/api${base.pathname.replace(/\/+$/, '')}/charts`;

  async function ask(
    path: string,
    { method = 'GET', ...rest }: Partial<Parameters<Transport['get']>[0]>,
    signal?: AbortSignal,
  ) {
    login ??= options.loginFor(base.host);
    const credentials = { ...(await login), ...(options.ca === undefined ? {} : { ca: options.ca }) };
    const access: Access = { credentials, origin: base.origin };
    const ms = method === 'GET' ? (options.answerMs ?? 30_000) : PUSH_MS;
    const url = new URL(path, base.origin);
    try {
      return await withDeadline(`${method} ${url.href}`, ms, [signal], (step) =>
        transport.get({ url, method, authorization: authorizationOf(credentials), ...rest, signal: step }, access),
      );
    } catch (error) {
      throw asRegistryError(error, base.host);
    }
  }

  async function refuse(answer: Answer, what: string): Promise<never> {
    return await complain(answer, base.host, what, (await login) !== undefined);
  }

  return {
    async digestOf({ name, version }, signal) {
      const what = `chart ${name} ${version}`;
      const answer = await ask(`${api}/${encodeURIComponent(name)}/${encodeURIComponent(version)}`, {}, signal);
      if (answer.status === 404) {
        await discard(answer.body);
        return undefined;
      }
      if (answer.status !== 200) return await refuse(answer, what);
      const digest = digestIn(await readWhole(answer.body, ANSWER_BYTES));
      if (digest === undefined)
        throw new EspalierError(
          'RegistryFailed',
          `${base.host} does not answer as ChartMuseum does when asked for the ${what}; is ${address} its address?`,
        );
      return digest;
    },
    async archive({ name, version }, signal) {
      const what = `archive of chart ${name} ${version}`;
      const file = encodeURIComponent(`${name}-${version}.tgz`);
      const answer = await ask(`${api.slice('/api'.length)}/${file}`, {}, signal);
      if (answer.status !== 200) return await refuse(answer, what);
      const bytes = await readWhole(answer.body, ARCHIVE_BYTES);
      if (bytes !== undefined) return bytes;
      throw new EspalierError('RegistryFailed', `${base.host} has more than ${ARCHIVE_BYTES} bytes as ${what}`);
    },
    async push({ name, version, archive }, signal) {
      const length = typeof archive === 'string' ? (await stat(archive)).size : archive.length;
      const body = typeof archive === 'string' ? createReadStream(archive) : archive;
      const headers = { 'content-type': 'application/gzip', 'content-length': String(length) };
      const answer = await ask(api, { method: 'POST', headers, body }, signal);
      if (answer.status !== 201 && answer.status !== 200) await refuse(answer, `chart ${name} ${version}`);
      await discard(answer.body);
    },
    close: () => transport.close(),
  };
}

function museumUrl(address: string, insecure: readonly string[]): URL {
  const url = URL.parse(address);
  const bad = (why: string) =>
    new EspalierError('InvalidConfiguration', `${JSON.stringify(address)} is no address of a ChartMuseum: ${why}`, {
      retry: false,
    });
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw bad('write https://museum.example.com');
  if (url.username !== '' || url.search !== '' || url.hash !== '') throw bad('it holds more than a host and a path');
  if (url.protocol === 'http:' && !insecure.some((one) => one === url.host || one === url.hostname))
    throw bad(`plain http is for hosts that --insecure-registry names: ${url.host}`);
  return url;
}

/** ChartMuseum writes the digest without its kind. */
function digestIn(bytes: Buffer | undefined): string | undefined {
  try {
    const { digest } = JSON.parse(bytes?.toString('utf8') ?? '') as { digest?: unknown };
    return typeof digest === 'string' && /^[0-9a-f]{64}$/.test(digest) ? `sha256:${digest}` : undefined;
  } catch {
    return undefined;
  }
}
