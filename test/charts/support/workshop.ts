import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Charts, type ChartsOptions, createCharts } from '../../../src/charts/charts.ts';
import { toolPath } from '../../../src/tools/tool.ts';

const run = promisify(execFile);

/** A folder with a cache and the real Helm in it. */
export interface Workshop {
  path: string;
  /** Charts as the agent has them; called again it is the agent after a restart. */
  open(options?: Partial<ChartsOptions>): Charts;
  write(files: Record<string, string>): Promise<void>;
  helm(...args: string[]): Promise<string>;
  close(): Promise<void>;
}

export const CHART = (name: string, version: string, more = ''): string =>
  `apiVersion: v2\nname: ${name}\nversion: ${version}\n${more}`;

export async function openWorkshop(): Promise<Workshop> {
  const path = await mkdtemp(join(tmpdir(), 'espalier-charts-'));
  const opened: Charts[] = [];
  const helm = await toolPath('helm');
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: join(path, 'home'),
    HELM_PLUGINS: join(path, 'home', 'plugins'),
    GNUPGHOME: join(path, 'gnupg'),
    NO_PROXY: '127.0.0.1',
  };
  return {
    path,
    open(options = {}) {
      const charts = createCharts({
        cacheDir: join(path, 'cache'),
        addresses: { privateAddresses: true },
        proxy: null,
        ...options,
      });
      opened.push(charts);
      return charts;
    },
    async write(files) {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), text);
      }
    },
    async helm(...args) {
      return (await run(helm, args, { cwd: path, env })).stdout;
    },
    async close() {
      for (const charts of opened) await charts.close();
      await rm(path, { recursive: true, force: true });
    },
  };
}
