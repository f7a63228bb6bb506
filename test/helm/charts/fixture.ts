import type { JsonObject } from '../../../src/api/index.ts';
import type { ChartFiles } from '../../support/charts.ts';

/** One state of a release: what is installed, then what it is upgraded to. */
export interface Step {
  chart: ChartFiles;
  values?: JsonObject;
}

/** A chart made to be installed twice: by Helm itself, and by the agent. */
export interface Fixture {
  /** What it is about; also the name of the chart. */
  name: string;
  /** Where the agent gets it from. */
  source: 'repository' | 'oci' | 'git';
  /** `group` is an API group that no other run uses, for charts with kinds of their own. */
  steps(group: string): Step[];
  /** Of the Plugin, where Espalier is more careful than Helm unless it is told. */
  spec?: Record<string, unknown>;
  /** Objects beside the release that templates look up: their YAML, without a namespace. */
  beside?: string[];
  /** Fields that are never the same twice: `Secret made /data/token`. */
  random?: readonly string[];
}

/** A ConfigMap as a template: the simplest thing that shows a value. Lines of `data` are YAML. */
export function configMap(name: string, data: readonly string[], head: readonly string[] = []): string {
  const lines = ['apiVersion: v1', 'kind: ConfigMap', 'metadata:', `  name: ${name}`];
  return [...lines, ...head.map((line) => `  ${line}`), 'data:', ...data.map((line) => `  ${line}`), ''].join('\n');
}
