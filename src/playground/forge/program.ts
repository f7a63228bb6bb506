import { randomBytes } from 'node:crypto';
import { access, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { EspalierError } from '../../api/index.ts';
import { runProgram } from '../../tools/run.ts';
import { type RunningProgram, startProgram } from '../../tools/start.ts';
import { THRIFTY } from '../../tools/thrifty.ts';
import { hooksFolder, writeHooks } from './hooks.ts';
import { lendLooks } from './looks.ts';
import { giteaSettings } from './settings.ts';

/** The program `gitea` with one folder of its own. */
export interface GiteaProgram {
  /** Makes the database and its administrator. Once for each folder. */
  prepare(administrator: { user: string; password: string }): Promise<void>;
  /** Resolves when `ready` answers true. */
  serve(port: number, ready: () => Promise<boolean>): Promise<RunningProgram>;
}

const COMMAND_TIMEOUT_MS = 60_000;
const READY_TIMEOUT_MS = 60_000;

export async function giteaProgram(path: string, root: string, signal: AbortSignal | undefined): Promise<GiteaProgram> {
  const settings = join(root, 'app.ini');
  const secrets = { internalToken: secret(), key: secret(), jwt: secret() };
  const statics = await staticsOf(path);
  const place = { root, statics, hooks: hooksFolder(root), user: userInfo().username, secrets };
  const write = (port: number) => writeFile(settings, giteaSettings({ ...place, port }), { mode: 0o600 });
  const env = { HOME: root, GIT_CONFIG_NOSYSTEM: '1', TMPDIR: root, ...THRIFTY };

  async function run(args: string[], hidden: string[] = []): Promise<void> {
    const options = { args: ['--config', settings, ...args], cwd: root, env, secrets: hidden, signal };
    const { code, stdout, stderr } = await runProgram(path, { ...options, timeoutMs: COMMAND_TIMEOUT_MS });
    if (code === 0) return;
    const said = `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n');
    throw new EspalierError('PlaygroundFailed', `gitea ${args.slice(0, 3).join(' ')} ended with ${code}: ${said}`);
  }

  return {
    async prepare({ user, password }) {
      if (statics !== undefined) await lendLooks(root, statics);
      await writeHooks(root, path, settings);
      await write(0);
      await run(['migrate']);
      const who = ['--username', user, '--email', `${user}@example.com`, '--password', password];
      await run(['admin', 'user', 'create', '--admin', '--must-change-password=false', ...who], [password]);
    },
    async serve(port, ready) {
      await write(port);
      return await startProgram(path, {
        args: ['--config', settings, 'web'],
        name: 'gitea',
        cwd: root,
        env,
        logFile: join(root, 'gitea.log'),
        ready,
        readyTimeoutMs: READY_TIMEOUT_MS,
        signal,
      });
    },
  };
}

/** One that was built finds its templates beside it; the published one holds them itself. */
async function staticsOf(path: string): Promise<string | undefined> {
  const folder = dirname(path);
  return await access(join(folder, 'templates')).then(
    () => folder,
    () => undefined,
  );
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}
