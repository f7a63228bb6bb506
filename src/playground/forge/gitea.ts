import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isError } from '../../api/index.ts';
import type { RunningProgram } from '../../tools/start.ts';
import { toolPath } from '../../tools/tool.ts';
import { freePort } from '../port.ts';
import { giteaApi } from './api.ts';
import { type Person, personOf } from './person.ts';
import { type GiteaProgram, giteaProgram } from './program.ts';

export interface GiteaOptions {
  /** An empty folder for everything that it writes; it stays when Gitea stops. */
  root: string;
  signal?: AbortSignal | undefined;
}

/** A real Gitea on 127.0.0.1. It dies with this process, however that ends. */
export interface Gitea {
  /** `http://127.0.0.1:20123`, without a slash at the end. */
  url: string;
  root: string;
  /** Of the program; 0 while it is halted. */
  readonly pid: number;
  /** May do everything there. */
  admin: Person;
  /** Resolves when it ended though nobody stopped it. */
  broken: Promise<'Gitea'>;
  /** Ends the program; what it knows stays. Nobody answers on its port until `resume`. */
  halt(): Promise<void>;
  /** Starts it again on the same port. */
  resume(): Promise<void>;
  /** Harmless when repeated. */
  stop(): Promise<void>;
}

const ADMIN = 'root1'; // `admin` is a name that Gitea keeps for itself
const PORT_TRIES = 3;
const HALT_GRACE_MS = 3_000;

export async function startGitea({ root, signal }: GiteaOptions): Promise<Gitea> {
  const path = await toolPath('gitea', signal === undefined ? {} : { signal });
  await mkdir(root, { recursive: true, mode: 0o700 });
  const program = await giteaProgram(path, root, signal);
  const login = { user: ADMIN, password: randomBytes(12).toString('base64url') };
  await program.prepare(login);
  const first = await serveOnFreePort(program, login);
  const { url, port, token } = first;

  const broken = Promise.withResolvers<'Gitea'>();
  let running: RunningProgram | undefined;
  const watch = (started: RunningProgram): void => {
    running = started;
    void started.exited.then(() => running === started && broken.resolve('Gitea'));
  };
  const end = async (graceMs: number): Promise<void> => {
    const ending = running;
    running = undefined;
    await ending?.stop({ graceMs });
  };
  watch(first.running);
  return {
    url,
    root,
    get pid() {
      return running?.pid ?? 0;
    },
    admin: personOf({ url, root, name: ADMIN, password: login.password, token }),
    broken: broken.promise,
    halt: () => end(HALT_GRACE_MS),
    async resume() {
      const api = giteaApi(url, { token });
      watch(await program.serve(port, async () => (await api.ask('GET', '/user')).status === 200));
    },
    stop: () => end(0),
  };
}

/** Requests that a Gitea answered so far whose line holds the text: `POST /api/v1/repos/ada/web/statuses/… 201`. */
export async function requestsOf({ root }: Pick<Gitea, 'root'>, text: string): Promise<string[]> {
  const log = await readFile(join(root, 'log', 'access.log'), 'utf8').catch(() => '');
  const lines = [...log.matchAll(/"([A-Z]+) (\S+) HTTP\/[\d.]+" (\d+)/g)].map(([, ...parts]) => parts.join(' '));
  return lines.filter((line) => line.includes(text));
}

/**
 * Somebody may take the port between our look and Gitea's. It is ready when it knows a password that was made for it:
 * another Gitea on that port would not.
 */
async function serveOnFreePort(program: GiteaProgram, login: { user: string; password: string }) {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const api = giteaApi(url, login);
    let token = '';
    const ready = async (): Promise<boolean> => {
      const body = { name: 'playground', scopes: ['all'] };
      const { status, fields } = await api.ask('POST', `/users/${login.user}/tokens`, body);
      if (status === 201) token = fields.text('sha1');
      return token !== '';
    };
    try {
      return { running: await program.serve(port, ready), url, port, token };
    } catch (error) {
      const isTaken = isError(error, 'ProgramFailed') && error.message.includes('address already in use');
      if (!isTaken || attempt === PORT_TRIES) throw error;
    }
  }
}
