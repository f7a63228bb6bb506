import { messageOf } from '../api/index.ts';
import type { ChartYaml } from '../charts/chart-yaml.ts';
import { memberPath } from '../charts/tar-read.ts';
import { type ChartSink, chartInArchive, inMemory } from '../mirror/charts.ts';
import type { Outcome } from '../mirror/outcome.ts';
import { inParallel } from '../mirror/parallel.ts';
import type { Push } from './push.ts';
import type { Contents } from './verify.ts';

const LOOKS = 8;

/** Charts of a package to a registry or a ChartMuseum. Every one is tried; one at a time is in memory. */
export async function pushCharts(
  { charts, files }: Contents,
  sink: ChartSink,
  push: Omit<Push, 'registry'>,
): Promise<void> {
  const { members, dryRun, signal, onResult } = push;
  const tell = (path: string, chart: ChartYaml, outcome: Outcome): void =>
    onResult({
      kind: 'chart',
      from: path,
      to: sink.placeOf(chart),
      digest: `sha256:${files.get(path)?.sha256}`,
      outcome,
    });
  const contentOf = ({ name, version, appVersion, type }: ChartYaml, path: string, bytes: Uint8Array) => {
    const { sha256 = '', size = 0 } = files.get(path) ?? {};
    const facts = { name, version, type, ...(appVersion === undefined ? {} : { appVersion }) };
    return chartInArchive({ ...facts, digest: `sha256:${sha256}`, bytes: size }, () => inMemory(bytes));
  };
  const put = async (path: string, chart: ChartYaml, bytes: Uint8Array, isLook: boolean): Promise<Outcome> => {
    try {
      return await sink.put(contentOf(chart, path, bytes), isLook);
    } catch (error) {
      signal.throwIfAborted();
      return { state: 'failed', why: messageOf(error) };
    }
  };
  const missing = new Map<string, ChartYaml>();
  await inParallel([...charts], LOOKS, signal, async ([path, chart]) => {
    const outcome = await put(path, chart, new Uint8Array(), true);
    if (outcome.state === 'missing' && !dryRun) missing.set(path, chart);
    else tell(path, chart, outcome);
  });
  if (missing.size === 0) return;
  push.onTotal([...missing.keys()].reduce((total, path) => total + (files.get(path)?.size ?? 0), 0));
  for await (const member of members()) {
    signal.throwIfAborted();
    const path = memberPath(member.path);
    const chart = missing.get(path);
    if (chart === undefined || member.type !== 'file') continue;
    const bytes = Buffer.concat(await Array.fromAsync(member.content()));
    missing.delete(path);
    tell(path, chart, await put(path, chart, bytes, false));
    push.onBytes(bytes.length);
    if (missing.size === 0) break;
  }
}
