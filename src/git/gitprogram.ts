import { access, constants, mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { EspalierError, isError } from '../api/index.ts';
import { runProgram } from '../tools/run.ts';
import { childEnvironment, sshCommand } from './childenv.ts';
import { explainComplaint } from './complaint.ts';
import { type Credentials, secretsOf, secretsOfHeader } from './credentials.ts';
import { isExempt, type ProxySettings, resolveChecked, trustedWith } from './dial.ts';
import { temporaryPath } from './layout.ts';
import { redactor } from './redact.ts';
import type { RepositoryUrl, UrlPolicy } from './url.ts';

export interface GitProgramOptions {
  /** The program `git`. */
  path: string;
  /** The bare repository. */
  dir: string;
  url: RepositoryUrl;
  policy: UrlPolicy;
  credentials: Credentials;
  /** Lines of known_hosts besides the ones in the credentials. */
  knownHosts?: string | undefined;
  caBundle?: string | undefined;
  proxy?: ProxySettings | undefined;
  timeoutMs: number;
  authorize(signal: AbortSignal): Promise<string | undefined>;
}

/** The `git` on the PATH; undefined when there is none. */
export async function findGit(searched: string = process.env.PATH ?? ''): Promise<string | undefined> {
  for (const folder of searched.split(delimiter)) {
    const path = join(folder, 'git');
    if (
      folder !== '' &&
      (await access(path, constants.X_OK).then(
        () => true,
        () => false,
      ))
    )
      return path;
  }
  return undefined;
}

/** Runs one git command against the repository's server. Keys lie in a private folder that is gone when it ends. */
export async function runRemote(options: GitProgramOptions, args: string[], signal: AbortSignal): Promise<string> {
  const home = temporaryPath(options.dir);
  await mkdir(home, { mode: 0o700 });
  try {
    const ssh = options.url.protocol === 'ssh';
    const authorization = ssh ? undefined : await options.authorize(signal);
    const env = childEnvironment({
      policy: options.policy,
      home,
      gitDir: options.dir,
      url: options.url.href,
      authorization,
      ...(ssh ? await sshSettings(options, home) : await httpSettings(options, home)),
    });
    const secrets = [...secretsOf(options.credentials), ...secretsOfHeader(authorization)];
    return await runGit({
      path: options.path,
      args,
      env,
      timeoutMs: options.timeoutMs,
      signal,
      secrets,
      host: options.url.host,
    });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Runs one git command that touches nothing but the bare repository. */
export async function runLocal(
  path: string,
  dir: string,
  args: string[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<string> {
  const env = childEnvironment({ policy: {}, home: dir, gitDir: dir, url: 'https://none.invalid' });
  return runGit({
    path,
    args,
    env: { ...env, GIT_ALLOW_PROTOCOL: '' },
    timeoutMs,
    signal,
    secrets: [],
    host: 'The stored repository',
  });
}

interface Run {
  path: string;
  args: string[];
  env: Record<string, string>;
  timeoutMs: number;
  signal: AbortSignal;
  secrets: string[];
  host: string;
}

async function runGit({ path, args, env, timeoutMs, signal, secrets, host }: Run): Promise<string> {
  try {
    const { code, stdout, stderr } = await runProgram(path, { args, env, timeoutMs, signal, secrets });
    if (code === 0) return stdout;
    throw explainComplaint(host, redactor(secrets)(stderr));
  } catch (error) {
    if (isError(error, 'ProgramTimedOut'))
      throw new EspalierError('GitTimedOut', `${host} did not answer in time.`, { cause: error });
    if (isError(error, 'ProgramOutputTooLarge'))
      throw new EspalierError('GitTooLarge', `${host} lists too many branches and tags.`, { cause: error });
    throw error;
  }
}

async function httpSettings(
  options: GitProgramOptions,
  home: string,
): Promise<{ caFile?: string; proxyUrl?: string; pin?: string }> {
  const { url, policy, proxy, caBundle } = options;
  const settings: { caFile?: string; proxyUrl?: string; pin?: string } = {};
  if (url.protocol === 'https') {
    // Always: git's own list of authorities is missing in small images, and both backends should trust the same.
    settings.caFile = join(home, 'ca.crt');
    await writeFile(settings.caFile, `${trustedWith(caBundle).join('\n')}\n`, { mode: 0o600 });
  }
  if (proxy !== undefined && !isExempt(url.host, proxy.noProxy ?? [])) return { ...settings, proxyUrl: proxy.url };
  const addresses = await resolveChecked(url.host, policy);
  if (addresses[0] !== url.host) {
    const port = url.port ?? (url.protocol === 'https' ? 443 : 80);
    settings.pin = `${url.host}:${port}:${addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(',')}`;
  }
  return settings;
}

async function sshSettings(
  options: GitProgramOptions,
  home: string,
): Promise<{ sshCommand: string; askPass?: string }> {
  const { url, credentials, policy } = options;
  const key = credentials.kind === 'ssh' ? credentials : undefined;
  const known = [key?.knownHosts, options.knownHosts].filter((lines) => lines !== undefined && lines.trim() !== '');
  if (known.length === 0) {
    throw new EspalierError('GitHostUnknown', `No key of ${url.host} is known; add \`known_hosts\` to the Secret.`, {
      retry: false,
    });
  }
  const write = async (name: string, text: string, mode = 0o600): Promise<string> => {
    const file = join(home, name);
    await writeFile(file, text, { mode, flag: 'wx' });
    return file;
  };
  const knownHostsFile = await write('known_hosts', `${known.join('\n')}\n`);
  // Without its last line end, ssh does not understand a key.
  const identityFile = key && (await write('identity', `${key.identity.replaceAll('\r\n', '\n').trimEnd()}\n`));
  const [address = url.host] = await resolveChecked(url.host, policy);
  const command = sshCommand({
    host: url.host,
    port: url.port,
    address,
    knownHostsFile,
    identityFile,
    withPassphrase: key?.passphrase !== undefined,
    connectSeconds: Math.max(1, Math.min(15, Math.floor(options.timeoutMs / 1000))),
  });
  if (key?.passphrase === undefined) return { sshCommand: command };
  const passphrase = await write('passphrase', key.passphrase);
  const askPass = await write('askpass', `#!/bin/sh\nexec cat '${passphrase.replaceAll("'", `'\\''`)}'\n`, 0o700);
  return { sshCommand: command, askPass };
}
