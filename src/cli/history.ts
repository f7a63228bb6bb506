import { Command } from 'commander';
import type { Plugin } from '../api/index.ts';
import { plain } from '../plan/plain.ts';
import type { Release } from '../release/record.ts';
import { inCluster } from './cluster.ts';
import { tableFor } from './get-options.ts';
import { type ClusterOptions, withCluster, withOutput } from './options.ts';
import { formatData } from './output.ts';
import { print, say } from './print.ts';
import { findPlugin, placeOf, releasesOf } from './release-of.ts';
import { shortCommit } from './standing.ts';
import type { Cell } from './table.ts';
import { shown } from './target.ts';

interface HistoryOptions extends ClusterOptions {
  namespace?: string;
  output?: 'json' | 'yaml' | 'wide';
  color: boolean;
}

/** One revision, in the words of `helm history`, and what Espalier knows of it besides. */
export interface HistoryRow {
  revision?: number;
  updated?: string;
  status: string;
  chart?: string;
  app_version?: string;
  commit?: string;
  description?: string;
}

const EXAMPLES = `
Examples:
  espalier history cert-manager -n espalier-system
  espalier history plugin/web -o json`;

export function historyCommand(): Command {
  const command = new Command('history')
    .description('list the revisions of a Plugin: chart, commit, outcome and when')
    .argument('<plugin...>', 'plugin/<name>, or <name>')
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .addHelpText('after', EXAMPLES);
  return withOutput(withCluster(command), ['json', 'yaml', 'wide']).action(history);
}

async function history(words: string[], options: HistoryOptions): Promise<void> {
  await inCluster(options, async (cluster) => {
    const plugin = await findPlugin(cluster, words);
    const place = placeOf(plugin);
    const rows = place === undefined ? historyOf(plugin) : withReleases(plugin, await releasesOf(cluster, place));
    const { output } = options;
    if (output === 'json' || output === 'yaml') return print(await formatData(rows, output));
    if (rows.length === 0)
      return say(
        `${shown({ kind: 'Plugin', name: plugin.metadata.name })} has no revision yet: ${plugin.status?.message ?? 'not looked at yet'}`,
      );
    print(
      tableFor(options)
        .lines(cellsOf(rows, place !== undefined))
        .join('\n'),
    );
  });
}

/** What Helm keeps of the release, each with the commit that it was made for. */
export function withReleases(plugin: Plugin, releases: readonly Release[]): HistoryRow[] {
  const commits = new Map<number, string>();
  for (const { revision, commit } of plugin.status?.history ?? [])
    if (revision !== undefined && commit !== undefined && !commits.has(revision)) commits.set(revision, commit);
  return releases.map(({ version, info, chart }) => {
    const metadata = (chart.metadata ?? {}) as { name?: string; version?: string; appVersion?: string };
    const commit = commits.get(version);
    return {
      revision: version,
      ...(info.last_deployed === undefined ? {} : { updated: info.last_deployed }),
      status: info.status,
      chart: `${metadata.name ?? ''}-${metadata.version ?? ''}`,
      app_version: metadata.appVersion ?? '',
      ...(commit === undefined ? {} : { commit }),
      description: info.description ?? '',
    };
  });
}

/** Of a Plugin without a release: what its status remembers, oldest first. */
export function historyOf({ status }: Plugin): HistoryRow[] {
  return (status?.history ?? []).toReversed().map(({ at, outcome, version, commit }) => ({
    updated: at,
    status: outcome,
    ...(version === undefined ? {} : { chart: version }),
    ...(commit === undefined ? {} : { commit }),
  }));
}

const COLOURS: Readonly<Record<string, 'green' | 'red' | 'yellow'>> = {
  deployed: 'green',
  Ready: 'green',
  failed: 'red',
  Failed: 'red',
  'pending-install': 'yellow',
  'pending-upgrade': 'yellow',
  'pending-rollback': 'yellow',
};

function cellsOf(rows: readonly HistoryRow[], isRelease: boolean): Cell[][] {
  const names = isRelease
    ? ['REVISION', 'UPDATED', 'STATUS', 'CHART', 'APP VERSION', 'COMMIT', 'DESCRIPTION']
    : ['UPDATED', 'OUTCOME', 'VERSION', 'COMMIT'];
  const header = names.map((text) => ({ text }));
  return [header, ...rows.map((row) => (isRelease ? releaseCells(row) : plainCells(row)))];
}

function releaseCells(row: HistoryRow): Cell[] {
  return [
    { text: String(row.revision ?? '') },
    { text: timeOf(row.updated) },
    statusCell(row.status),
    { text: plain(row.chart ?? '') },
    { text: plain(row.app_version ?? '') || '-' },
    { text: shortCommit(row.commit) || '-' },
    { text: plain(row.description ?? '') },
  ];
}

function plainCells(row: HistoryRow): Cell[] {
  return [
    { text: timeOf(row.updated) },
    statusCell(row.status),
    { text: plain(row.chart ?? '') || '-' },
    { text: shortCommit(row.commit) || '-' },
  ];
}

function statusCell(status: string): Cell {
  const colour = COLOURS[status];
  return { text: plain(status), ...(colour === undefined ? {} : { colour }) };
}

/** To the second, in UTC: `2026-11-18 14:03:05`. */
function timeOf(instant: string | undefined): string {
  const at = new Date(instant ?? '');
  return Number.isNaN(at.getTime()) ? '-' : at.toISOString().slice(0, 19).replace('T', ' ');
}
