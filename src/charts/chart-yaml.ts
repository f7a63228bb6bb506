import { messageOf } from '../api/index.ts';
import { describeBytes } from '../git/limits.ts';
import { refused } from './errors.ts';
import { listIn, loadText, mapIn, textIn } from './text-yaml.ts';

export interface ChartDependency {
  name: string;
  alias?: string;
  version: string;
  repository: string;
  /** As written, for the digest of Chart.lock. */
  written: Record<string, unknown>;
}

export interface ChartYaml {
  apiVersion: string;
  name: string;
  version: string;
  appVersion?: string;
  kubeVersion?: string;
  type: 'application' | 'library';
  dependencies: ChartDependency[];
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,249}$/;
const VERSION = /^v?\d+(\.\d+){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

export function isChartName(name: string): boolean {
  return NAME.test(name);
}

export function isChartVersion(version: string): boolean {
  return version.length <= 256 && VERSION.test(version);
}

/** True for what names one version and is no range: all three numbers. */
export function isExactVersion(version: string): boolean {
  return isChartVersion(version) && /^v?\d+\.\d+\.\d+/.test(version);
}

/** Larger ones are an attack on who reads them as YAML. */
export const MAX_YAML_BYTES = 1024 * 1024;

/** The facts of a Chart.yaml; refuses what no chart of Helm may be called. `where` is for the message: its file. */
export function parseChartYaml(bytes: Uint8Array, where: string): ChartYaml {
  if (bytes.length > MAX_YAML_BYTES) throw refused(`${where} has more than ${describeBytes(MAX_YAML_BYTES)}.`);
  let document: Record<string, unknown>;
  try {
    document = mapIn(loadText(Buffer.from(bytes).toString('utf8')));
  } catch (error) {
    throw refused(`${where} can't be read as YAML: ${messageOf(error).split('\n')[0]}.`);
  }
  const name = textIn(document.name) ?? '';
  const version = textIn(document.version) ?? '';
  const type = textIn(document.type) ?? 'application';
  const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));
  if (!isChartName(name)) {
    throw refused(
      `${where} names the chart ${quoted(name)}; a name has letters, digits, "-", "_" and "." and begins with a letter or digit.`,
    );
  }
  if (!isChartVersion(version))
    throw refused(`${where} gives the version ${quoted(version)}; it must be one such as 1.2.3.`);
  if (type !== 'application' && type !== 'library') {
    throw refused(`${where} gives the type ${quoted(type)}; it must be application or library.`);
  }
  const appVersion = textIn(document.appVersion);
  const kubeVersion = textIn(document.kubeVersion);
  return {
    apiVersion: textIn(document.apiVersion) ?? '',
    name,
    version,
    type,
    ...(appVersion === undefined ? {} : { appVersion }),
    ...(kubeVersion === undefined ? {} : { kubeVersion }),
    dependencies: parseDependencies(document.dependencies),
  };
}

export function parseDependencies(value: unknown): ChartDependency[] {
  return listIn(value).map((item) => {
    const written = mapIn(item);
    const alias = textIn(written.alias);
    return {
      name: textIn(written.name) ?? '',
      ...(alias === undefined || alias === '' ? {} : { alias }),
      version: textIn(written.version) ?? '',
      repository: textIn(written.repository) ?? '',
      written,
    };
  });
}

/** `v1.2.3` and `1.2.3` are one version. */
export function sameVersion(a: string, b: string): boolean {
  return a.replace(/^[vV]/, '') === b.replace(/^[vV]/, '');
}
