import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../../src/playground/port.ts';
import { type RunningProgram, startProgram } from '../../../src/tools/start.ts';
import { toolPath } from '../../../src/tools/tool.ts';

export interface Registry {
  /** `127.0.0.1:34567` */
  host: string;
  stop(): Promise<void>;
}

/** A user `ada` with a password, as `htpasswd -B` writes it. */
export const ADA = {
  username: 'ada',
  password: 'U*U',
  line: 'ada:$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW\n',
};

interface RegistryOptions {
  htpasswd?: string;
  tls?: { certificate: string; key: string };
}

const TRIES = 3;

/** The real registry on loopback, over plain http unless it gets certificates. */
export async function startRegistry(folder: string, options: RegistryOptions = {}): Promise<Registry> {
  // Somebody may take the port between finding it free and using it.
  for (let tries = 1; ; tries++) {
    const host = `127.0.0.1:${await freePort()}`;
    try {
      const program = await startAt(host, folder, options);
      return { host, stop: () => program.stop() };
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

async function startAt(host: string, folder: string, options: RegistryOptions): Promise<RunningProgram> {
  const dir = join(folder, `registry-${Math.random().toString(36).slice(2)}`);
  await mkdir(dir, { recursive: true });
  const config: Record<string, unknown> = {
    version: '0.1',
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(dir, 'data') }, delete: { enabled: true } },
    http: { addr: host, ...(options.tls === undefined ? {} : { tls: options.tls }) },
  };
  if (options.htpasswd !== undefined) {
    await writeFile(join(dir, 'htpasswd'), options.htpasswd);
    config.auth = { htpasswd: { realm: 'charts', path: join(dir, 'htpasswd') } };
  }
  await writeFile(join(dir, 'config.yml'), JSON.stringify(config));
  const scheme = options.tls === undefined ? 'http' : 'https';
  return await startProgram(await toolPath('registry'), {
    args: ['serve', join(dir, 'config.yml')],
    logFile: join(dir, 'log'),
    ready: async () =>
      scheme === 'https' ? isOpen(host) : [200, 401].includes((await fetch(`${scheme}://${host}/v2/`)).status),
  });
}

async function isOpen(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(host.split(':')[1]), '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
