import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const SSHD = '/usr/sbin/sshd';
const PORT_TRIES = 3;
const START_MS = 20_000;

export interface SshServer {
  user: string;
  port: number;
  knownHosts: string;
  /** known_hosts lines with a key that is not the server's. */
  wrongHosts: string;
  identity: string;
  /** A key that the server lets in, under a passphrase. */
  lockedIdentity: string;
  passphrase: string;
  /** A key that it does not let in. */
  strangerIdentity: string;
  close(): Promise<void>;
}

export function hasSshd(): boolean {
  return existsSync(SSHD);
}

/** A real OpenSSH server for the user who runs the tests, on a free port, that knows two keys. */
export async function startSshd(folder: string): Promise<SshServer> {
  const file = (name: string): string => join(folder, name);
  const passphrase = 'open sesame';
  for (const [name, phrase] of [
    ['host', ''],
    ['other', ''],
    ['key', ''],
    ['locked', passphrase],
    ['stranger', ''],
  ] as const) {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', phrase, '-C', name, '-f', file(name)]);
  }
  const read = (name: string): Promise<string> => readFile(file(name), 'utf8');
  await writeFile(file('authorized'), `${await read('key.pub')}${await read('locked.pub')}`, { mode: 0o600 });
  const options = [
    `ListenAddress 127.0.0.1`,
    `HostKey ${file('host')}`,
    `AuthorizedKeysFile ${file('authorized')}`,
    `PidFile ${file('pid')}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin yes',
    'PermitUserEnvironment no',
    'AcceptEnv GIT_PROTOCOL',
    'LogLevel ERROR',
  ];
  // Where sshd starts as root it wants this empty folder, which a service manager would make.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const { child, port } = await serveOnFreePort(file('config'), options);
  const known = (key: string): string => `[127.0.0.1]:${port} ${key.split(' ').slice(0, 2).join(' ')}\n`;
  return {
    user: userInfo().username,
    port,
    knownHosts: known(await read('host.pub')),
    wrongHosts: known(await read('other.pub')),
    identity: await read('key'),
    lockedIdentity: await read('locked'),
    strangerIdentity: await read('stranger'),
    passphrase,
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await ended;
    },
  };
}

/** Somebody may take the port between our look and sshd's. */
async function serveOnFreePort(config: string, options: string[]): Promise<{ child: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    await writeFile(config, `${[...options, `Port ${port}`].join('\n')}\n`);
    const child = spawn(SSHD, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    const deadline = Date.now() + START_MS;
    while (child.exitCode === null && Date.now() < deadline) {
      if (await answers(port)) return { child, port };
      await wait(30);
    }
    child.kill();
    if (attempt === PORT_TRIES) throw new Error(`sshd did not start: ${said}`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .once('data', () => done(true))
      .once('error', () => done(false))
      .once('close', () => done(false));
    function done(answer: boolean): void {
      socket.destroy();
      resolve(answer);
    }
  });
}
