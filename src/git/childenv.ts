import type { UrlPolicy } from './url.ts';

export interface ChildSettings {
  policy: UrlPolicy;
  /** A private folder of this one run. */
  home: string;
  /** The bare repository; absent where none is needed. */
  gitDir?: string | undefined;
  /** The whole Authorization header, for `url` alone. */
  authorization?: string | undefined;
  url: string;
  caFile?: string | undefined;
  proxyUrl?: string | undefined;
  /** `host:443:192.0.2.1`: which address to dial, so that what was checked is what is reached. */
  pin?: string | undefined;
  sshCommand?: string | undefined;
  /** A program that prints the key's passphrase. */
  askPass?: string | undefined;
}

/**
 * All that a git child gets to know. It reads no configuration but this, asks nobody, runs no hook or helper, and speaks only
 * the protocols named. Credentials travel here: never in arguments, which every process can read.
 */
export function childEnvironment(settings: ChildSettings): Record<string, string> {
  const { policy, url } = settings;
  const config: [string, string][] = [
    ['protocol.allow', 'never'],
    ['protocol.https.allow', 'always'],
    ['protocol.http.allow', policy.http === true ? 'always' : 'never'],
    ['protocol.ssh.allow', 'always'],
    ['core.hooksPath', '/dev/null'],
    ['core.fsmonitor', 'false'],
    ['core.askPass', ''],
    ['credential.helper', ''],
    ['http.followRedirects', 'false'],
    ['http.emptyAuth', 'false'],
    ['http.proxy', settings.proxyUrl ?? ''],
    // Packs as they come: nothing but packs is ever read back.
    ['transfer.unpackLimit', '1'],
    ['fetch.writeCommitGraph', 'false'],
    ['fetch.recurseSubmodules', 'false'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ['pack.threads', '1'],
    ['core.bigFileThreshold', '16m'],
    ['repack.writeBitmaps', 'false'],
  ];
  if (settings.authorization !== undefined)
    config.push([`http.${url}.extraHeader`, `Authorization: ${settings.authorization}`]);
  if (settings.caFile !== undefined) config.push(['http.sslCAInfo', settings.caFile]);
  if (settings.pin !== undefined) config.push(['http.curloptResolve', settings.pin]);
  const env: Record<string, string> = {
    HOME: settings.home,
    XDG_CONFIG_HOME: settings.home,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_ALLOW_PROTOCOL: policy.http === true ? 'https:http:ssh' : 'https:ssh',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_SSH_VARIANT: 'ssh',
    SSH_ASKPASS_REQUIRE: settings.askPass === undefined ? 'never' : 'force',
    GIT_CONFIG_COUNT: String(config.length),
  };
  if (settings.gitDir !== undefined) env.GIT_DIR = settings.gitDir;
  if (settings.sshCommand !== undefined) env.GIT_SSH_COMMAND = settings.sshCommand;
  if (settings.askPass !== undefined) env.SSH_ASKPASS = settings.askPass;
  for (const [i, [key, value]] of config.entries()) {
    env[`GIT_CONFIG_KEY_${i}`] = key;
    env[`GIT_CONFIG_VALUE_${i}`] = value;
  }
  return env;
}

export interface SshSettings {
  host: string;
  port: number | undefined;
  /** The checked address to dial; the host's key is still looked up under its name. */
  address: string;
  knownHostsFile: string;
  identityFile: string | undefined;
  withPassphrase: boolean;
  connectSeconds: number;
}

/** The ssh command line, for a shell: every word is quoted. Only the given key is offered, and only a known host is spoken to. */
export function sshCommand(settings: SshSettings): string {
  const { host, port, address } = settings;
  const options: Record<string, string> = {
    HostName: address,
    HostKeyAlias: port === undefined || port === 22 ? host : `[${host}]:${port}`,
    CheckHostIP: 'no',
    UserKnownHostsFile: settings.knownHostsFile,
    GlobalKnownHostsFile: '/dev/null',
    StrictHostKeyChecking: 'yes',
    UpdateHostKeys: 'no',
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    IdentityFile: settings.identityFile ?? 'none',
    PreferredAuthentications: 'publickey',
    PasswordAuthentication: 'no',
    KbdInteractiveAuthentication: 'no',
    BatchMode: settings.withPassphrase ? 'no' : 'yes',
    NumberOfPasswordPrompts: '1',
    ClearAllForwardings: 'yes',
    ForwardAgent: 'no',
    PermitLocalCommand: 'no',
    ConnectTimeout: String(settings.connectSeconds),
    ServerAliveInterval: '10',
    ServerAliveCountMax: '3',
  };
  const words = Object.entries(options).flatMap(([name, value]) => [
    '-o',
    `${name}=${value.includes(' ') ? `"${value}"` : value}`,
  ]);
  return ['ssh', '-F', '/dev/null', ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}
