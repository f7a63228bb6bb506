import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError } from '../api/index.ts';
import type { RunOptions, RunResult } from '../tools/run.ts';
import { withScratchFolder } from '../tools/scratch-folder.ts';
import type { Chart } from './cache.ts';
import { dearmor } from './dearmor.ts';

/** The program Helm, as `src/tools` gives it. */
export interface ChartTools {
  run(path: string, options: RunOptions): Promise<RunResult>;
  path(name: 'helm', options?: { signal?: AbortSignal | undefined }): Promise<string>;
}

export const PROVENANCE_BYTES = 1024 * 1024;
const VERIFY_MS = 30_000;

/** Lets Helm itself verify an archive against its provenance, with no more than both files and the keys in reach. */
export async function verifyProvenance(
  tools: ChartTools,
  chart: Chart,
  provenance: Uint8Array,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const keyring = dearmor(keys);
  await withScratchFolder('espalier-verify-', async (folder) => {
    await mkdir(join(folder, 'home'));
    // The signed text names the archive as `helm package` did.
    const archive = join(folder, `${chart.name}-${chart.version}.tgz`);
    await copyFile(chart.archive, archive);
    await writeFile(`${archive}.prov`, provenance);
    await writeFile(join(folder, 'keys.gpg'), keyring);
    const result = await tools.run(await tools.path('helm', { signal }), {
      args: ['verify', archive, '--keyring', join(folder, 'keys.gpg')],
      cwd: folder,
      env: {
        PATH: '',
        HOME: join(folder, 'home'),
        HELM_PLUGINS: join(folder, 'home', 'plugins'),
        KUBECONFIG: '/dev/null',
      },
      timeoutMs: VERIFY_MS,
      maxOutputBytes: 1024 * 1024,
      signal,
    });
    if (result.code === 0) return;
    const why = result.stderr
      .replaceAll(folder, '')
      .trim()
      .split('\n')
      .at(-1)
      ?.replace(/^Error: /, '')
      .slice(0, 300);
    throw unverified(chart, `Helm says: ${why || 'no reason'}`);
  });
}

export function unverified(chart: { name: string; version: string }, why: string): EspalierError {
  return new EspalierError(
    'ChartUnverified',
    `The chart ${chart.name} ${chart.version} is not verified and is not used. ${why}.`,
    {
      retry: false,
    },
  );
}
