import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { EspalierError, messageOf } from '../api/index.ts';
import { onPath } from '../tools/executable.ts';
import { runProgram } from '../tools/run.ts';

export interface Login {
  username?: string;
  password?: string;
  bearerToken?: string;
}

interface DockerConfig {
  auths?: Record<string, { auth?: string; username?: string; password?: string; registrytoken?: string }>;
  credsStore?: string;
  credHelpers?: Record<string, string>;
}

const HELPER_MS = 20_000;
const HUB_KEYS = ['https://index.docker.io/v1/', 'index.docker.io', 'docker.io', 'registry-1.docker.io'];

/** Whom `docker login` made of us, for each host: from config.json in DOCKER_CONFIG or ~/.docker, helpers included. */
export function dockerLogins(
  env: Readonly<Record<string, string | undefined>>,
): (host: string) => Promise<Login | undefined> {
  const file = join(env.DOCKER_CONFIG ?? join(homedir(), '.docker'), 'config.json');
  let config: Promise<DockerConfig> | undefined;
  return async (host) => {
    config ??= read(file);
    const { auths = {}, credsStore, credHelpers = {} } = await config;
    const keys =
      host === 'docker.io' ? HUB_KEYS : [host, `https://${host}`, `https://${host}/v1/`, `https://${host}/v2/`];
    const helper = keys.map((key) => credHelpers[key]).find((one) => one !== undefined) ?? credsStore;
    const fromHelper = helper === undefined ? undefined : await askHelper(helper, keys[0] ?? host);
    if (fromHelper !== undefined) return fromHelper;
    const entry = keys
      .map((key) => (Object.hasOwn(auths, key) ? auths[key] : undefined))
      .find((one) => one !== undefined);
    return entry === undefined ? undefined : loginOf(entry);
  };
}

async function read(file: string): Promise<DockerConfig> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new EspalierError('InvalidConfiguration', `${file} can't be read: ${messageOf(error)}`, { retry: false });
  }
  try {
    return (JSON.parse(text) ?? {}) as DockerConfig;
  } catch {
    // The parser's own words would repeat what stands there.
    throw new EspalierError(
      'InvalidConfiguration',
      `${file} is no JSON; mend it, or name another folder in DOCKER_CONFIG`,
      {
        retry: false,
      },
    );
  }
}

function loginOf({
  auth,
  username,
  password,
  registrytoken,
}: NonNullable<DockerConfig['auths']>[string]): Login | undefined {
  if (registrytoken !== undefined && registrytoken !== '') return { bearerToken: registrytoken };
  if (username !== undefined && password !== undefined) return { username, password };
  const decoded = Buffer.from(auth ?? '', 'base64').toString();
  const colon = decoded.indexOf(':');
  if (colon <= 0) return undefined;
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1).replace(/\0+$/, '') };
}

/** A helper that has nothing for a server says so and ends with 1. */
async function askHelper(name: string, server: string): Promise<Login | undefined> {
  const program = `docker-credential-${name}`;
  if (!/^[\w.-]+$/.test(name) || (await onPath(program, process.env.PATH ?? '')).length === 0) {
    const message = `the Docker configuration names the helper ${program}, which is not on the PATH; install it, or name another folder in DOCKER_CONFIG`;
    throw new EspalierError('InvalidConfiguration', message, { retry: false });
  }
  const { code, stdout } = await runProgram(program, {
    args: ['get'],
    input: server,
    env: plainEnv(),
    timeoutMs: HELPER_MS,
  });
  if (code !== 0) return undefined;
  const { Username = '', Secret = '' } = JSON.parse(stdout) as { Username?: string; Secret?: string };
  if (Secret === '') return undefined;
  // An identity token is no password, and only Docker's own client knows what to do with it.
  return Username === '<token>' ? undefined : { username: Username, password: Secret };
}

/** Helpers find their stores by what a session has: a bus, a home, a cloud's variables. */
function plainEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
