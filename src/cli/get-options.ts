import { API_VERSION } from '../api/names.ts';
import type { KubeObject } from '../api/objects.ts';
import type { ColumnOptions } from './columns.ts';
import type { GetRequest } from './get-request.ts';
import { type ClusterOptions, type OutputOptions, type ScopeOptions, wantsColor } from './options.ts';
import { painter } from './paint.ts';
import { Table } from './table.ts';
import type { TargetKind } from './target.ts';

export interface GetOptions extends ClusterOptions, ScopeOptions, OutputOptions {
  output?: 'json' | 'yaml' | 'wide' | 'name';
  selector?: string;
  watch?: boolean;
}

/** What to list or watch of a kind, by `-n`, `-A` and `-l`. */
export function targetOf(kind: TargetKind, namespace: string, { allNamespaces, selector }: GetOptions) {
  return {
    apiVersion: API_VERSION,
    kind,
    ...(allNamespaces ? {} : { namespace }),
    ...(selector === undefined ? {} : { labelSelector: selector }),
  };
}

export function isNamed({ kind, metadata }: KubeObject, target: { kind: string; name: string }): boolean {
  return kind === target.kind && metadata.name === target.name;
}

export function columnOptions({ kinds }: GetRequest, { output, allNamespaces }: GetOptions): ColumnOptions {
  return { mixed: kinds.length > 1, wide: output === 'wide', namespaces: allNamespaces === true, now: Date.now() };
}

/** A table as wide as the terminal, unless everything was asked for. */
export function tableFor(options: Pick<GetOptions, 'output' | 'color'>): Table {
  const width = options.output === 'wide' ? undefined : process.stdout.columns;
  return new Table({ paint: painter(wantsColor(options)), ...(width === undefined ? {} : { width }) });
}
