import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { EspalierError } from '../../api/index.ts';
import { runProgram } from '../../tools/run.ts';
import { type RunningProgram, startProgram } from '../../tools/start.ts';
import { toolPath } from '../../tools/tool.ts';
import { freePort } from '../port.ts';
import type { PackagedChart } from './package.ts';

export interface RegistryOptions {
  /** An empty folder for its storage, configuration and log. */
  root: string;
  /** Only this user may read and write; `hash` is the bcrypt hash of the password. */
  credential?: RegistryCredential;
  signal?: AbortSignal;
}

export interface RegistryCredential {
  user: string;
  password: string;
  hash: string;
}

/** The real `registry` program, over plain HTTP on 127.0.0.1. */
export interface Registry {
  /** `127.0.0.1:20123` */
  host: string;
  pid: number;
  /** Lines of its access log so far, such as `GET /v2/charts/web/manifests/1.0.0 200`. */
  requests(): Promise<string[]>;
  /** `helm push` into a folder of the registry; the answer is the chart's `oci://` address. */
  push(chart: PackagedChart, folder?: string): Promise<string>;
  /** Resolves when it is gone, for whatever reason. */
  exited: RunningProgram['exited'];
  stop(): Promise<void>;
}

const TRIES = 5;
const PUSH_TIMEOUT_MS = 60_000;
const READY_TIMEOUT_MS = 20_000;

export async function startRegistry(options: RegistryOptions): Promise<Registry> {
  const { root, credential, signal } = options;
  await mkdir(root, { recursive: true, mode: 0o700 });
  const [program, helm] = await Promise.all([toolPath('registry'), toolPath('helm')]);
  const { running, host } = await startOnFreePort(program, options);
  return {
    host,
    pid: running.pid,
    exited: running.exited,
    async requests() {
      const log = await readFile(running.logFile, 'utf8');
      return [...log.matchAll(/"([A-Z]+) (\S+) HTTP\/[\d.]+" (\d+)/g)].map(([, ...parts]) => parts.join(' '));
    },
    async push(chart, folder = 'charts') {
      const file = join(root, chart.file);
      await writeFile(file, chart.bytes);
      const login = credential === undefined ? [] : ['--username', credential.user, '--password', credential.password];
      const { code, stderr } = await runProgram(helm, {
        args: ['push', '--plain-http', ...login, file, `oci://${host}/${folder}`],
        env: privateHome(root),
        secrets: credential === undefined ? [] : [credential.password],
        timeoutMs: PUSH_TIMEOUT_MS,
        ...(signal === undefined ? {} : { signal }),
      });
      if (code !== 0)
        throw new EspalierError('PlaygroundFailed', `helm push ${chart.file} ended with ${code}: ${stderr}`);
      return `oci://${host}/${folder}/${chart.name}`;
    },
    stop: () => running.stop({ graceMs: 0 }),
  };
}

/** Nothing that Helm keeps is read from, or left in, the home of whoever started this. */
export function privateHome(folder: string): Record<string, string> {
  return {
    HOME: folder,
    HELM_CACHE_HOME: join(folder, 'helm-cache'),
    HELM_CONFIG_HOME: join(folder, 'helm-config'),
    HELM_DATA_HOME: join(folder, 'helm-data'),
  };
}

/** Somebody may take the port between finding it free and using it. */
async function startOnFreePort(
  program: string,
  options: RegistryOptions,
): Promise<{ running: RunningProgram; host: string }> {
  for (let tries = 1; ; tries++) {
    const host = `127.0.0.1:${await freePort()}`;
    try {
      return { host, running: await startAt(program, host, options) };
    } catch (error) {
      if (tries === TRIES || options.signal?.aborted === true) throw error;
    }
  }
}

async function startAt(
  program: string,
  host: string,
  { root, credential, signal }: RegistryOptions,
): Promise<RunningProgram> {
  const configuration = join(root, 'registry.yaml');
  const passwords = join(root, 'htpasswd');
  if (credential !== undefined) await writeFile(passwords, `${credential.user}:${credential.hash}\n`, { mode: 0o600 });
  const auth = credential === undefined ? {} : { auth: { htpasswd: { realm: 'registry', path: passwords } } };
  const storage = { filesystem: { rootdirectory: join(root, 'storage') }, delete: { enabled: true } };
  await writeFile(
    configuration,
    stringify({ version: 0.1, log: { level: 'warn' }, storage, http: { addr: host }, ...auth }),
  );
  return await startProgram(program, {
    args: ['serve', configuration],
    name: 'registry',
    cwd: root,
    env: { HOME: root, OTEL_TRACES_EXPORTER: 'none' },
    logFile: join(root, 'registry.log'),
    ready: async (ask) => [200, 401].includes((await fetch(`http://${host}/v2/`, { signal: ask })).status),
    readyTimeoutMs: READY_TIMEOUT_MS,
    ...(signal === undefined ? {} : { signal }),
  });
}
