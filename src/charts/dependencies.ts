import { messageOf } from '../api/index.ts';
import { describeBytes } from '../git/limits.ts';
import { type FileTree, joinPath } from '../git/tree.ts';
import { parseRange } from '../resolve/range.ts';
import {
  type ChartDependency,
  type ChartYaml,
  isChartName,
  isChartVersion,
  MAX_YAML_BYTES,
  parseChartYaml,
  parseDependencies,
} from './chart-yaml.ts';
import { refused } from './errors.ts';
import { lockDigest } from './lock-digest.ts';
import { loadText, mapIn, textIn } from './text-yaml.ts';

/** A dependency that the folder of a chart does not hold itself. */
export type Missing = { name: string; version: string } & (
  | { from: 'folder'; path: string }
  | { from: 'repository'; repository: string }
  | { from: 'oci'; url: string }
);

const MAX_DEPENDENCIES = 200;

export interface FolderOfChart {
  chart: ChartYaml;
  missing: Missing[];
}

/** Reads the Chart.yaml of a folder and what of its dependencies has to come from elsewhere, exactly, as Chart.lock says. */
export async function readFolder(tree: FileTree, path: string): Promise<FolderOfChart> {
  const file = joinPath(path, 'Chart.yaml');
  const bytes = await tree.read(file);
  if (bytes === undefined) throw refused(`There is no ${file}: point at the folder of a chart or at its .tgz.`);
  const chart = parseChartYaml(bytes, file);
  if (chart.apiVersion === 'v1' && (await tree.id(joinPath(path, 'requirements.yaml'))) !== undefined) {
    throw refused(
      `${file} is of apiVersion v1 with a requirements.yaml; move its dependencies into Chart.yaml with apiVersion v2.`,
    );
  }
  if (chart.dependencies.length > MAX_DEPENDENCIES)
    throw refused(`${file} has more than ${MAX_DEPENDENCIES} dependencies.`);
  const vendored = await vendoredCharts(tree, path);
  const absent = chart.dependencies.filter((dependency) => !isVendored(dependency, vendored, file));
  if (absent.length === 0) return { chart, missing: [] };
  const locked = await readLock(tree, path, chart);
  const missing = absent.map((dependency) => {
    const lock =
      locked.find(({ name, repository }) => name === dependency.name && repository === dependency.repository) ??
      locked.find(({ name }) => name === dependency.name);
    if (lock === undefined) throw outOfSync(path);
    return locate(lock, path, file);
  });
  return { chart, missing };
}

async function readLock(tree: FileTree, path: string, chart: ChartYaml): Promise<ChartDependency[]> {
  const file = joinPath(path, 'Chart.lock');
  const bytes = await tree.read(file);
  if (bytes === undefined) {
    const names = chart.dependencies.map(({ name }) => name).join(', ');
    throw refused(
      `${joinPath(path, 'Chart.yaml')} depends on ${names}, but there is no ${file} beside it to say in which versions; run \`helm dependency update\` and commit Chart.lock (or the folder charts/ too).`,
    );
  }
  if (bytes.length > MAX_YAML_BYTES) throw refused(`${file} has more than ${describeBytes(MAX_YAML_BYTES)}.`);
  let lock: Record<string, unknown>;
  try {
    lock = mapIn(loadText(Buffer.from(bytes).toString('utf8')));
  } catch (error) {
    throw refused(`${file} can't be read as YAML: ${messageOf(error).split('\n')[0]}.`);
  }
  const locked = parseDependencies(lock.dependencies);
  if (textIn(lock.digest) !== lockDigest(chart.dependencies, locked)) throw outOfSync(path);
  return locked;
}

function outOfSync(path: string): Error {
  return refused(
    `${joinPath(path, 'Chart.lock')} is out of sync with Chart.yaml; run \`helm dependency update\` and commit Chart.lock.`,
  );
}

function locate({ name, version, repository }: ChartDependency, path: string, file: string): Missing {
  const about = `The dependency ${JSON.stringify(name.slice(0, 80))} of ${file}`;
  if (!isChartName(name) || !isChartVersion(version))
    throw refused(`${about} has no valid name and exact version in Chart.lock; run \`helm dependency update\`.`);
  if (repository.startsWith('file://'))
    return { name, version, from: 'folder', path: inside(path, repository.slice(7), about) };
  if (repository.startsWith('oci://'))
    return { name, version, from: 'oci', url: `${repository.replace(/\/+$/, '')}/${name}` };
  if (/^https?:\/\//.test(repository)) return { name, version, from: 'repository', repository };
  if (/^(@|alias:)/.test(repository)) {
    throw refused(
      `${about} names the repository ${JSON.stringify(repository.slice(0, 80))}, an alias of somebody's machine; write its URL.`,
    );
  }
  if (repository === '')
    throw refused(`${about} has no repository and is not in charts/; commit it there or name its repository.`);
  throw refused(
    `${about} has the repository ${JSON.stringify(repository.slice(0, 80))}; https://, oci:// and file:// are understood.`,
  );
}

/** A path relative to a folder, never above the repository's root. */
function inside(folder: string, relative: string, about: string): string {
  const names = folder.split('/').filter((name) => name !== '' && name !== '.');
  if (relative.startsWith('/') || relative.includes('\\'))
    throw refused(`${about} is at an absolute path; write it relative to the chart: file://../common.`);
  for (const name of relative.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined)
      throw refused(`${about} leads out of the repository; it must be in the same one.`);
  }
  return names.join('/');
}

interface Vendored {
  name: string;
  version: string;
  /** Of a folder; an archive of another version is replaced. */
  folder: boolean;
}

async function vendoredCharts(tree: FileTree, path: string): Promise<Vendored[]> {
  const found: Vendored[] = [];
  for (const entry of await tree.list(joinPath(path, 'charts'))) {
    if (entry.type === 'folder') {
      const bytes = await tree.read(joinPath(entry.path, 'Chart.yaml'));
      if (bytes === undefined) continue;
      const { name, version } = parseChartYaml(bytes, joinPath(entry.path, 'Chart.yaml'));
      found.push({ name, version, folder: true });
    }
    const [, name, version] = ARCHIVE.exec(entry.name) ?? [];
    if (entry.type === 'file' && name !== undefined && version !== undefined)
      found.push({ name, version, folder: false });
  }
  return found;
}

const ARCHIVE = /^(.+?)-(v?\d+\.\d+\.\d+(?:[-+].*)?)\.tgz$/;

/** True for an archive in charts/ that is of that chart, whatever its version. */
export function isArchiveOf(name: string, file: string): boolean {
  return ARCHIVE.exec(file)?.[1] === name;
}

function isVendored({ name, version }: ChartDependency, vendored: Vendored[], file: string): boolean {
  const same = vendored.filter((each) => each.name === name);
  const range = parseRange(version === '' ? '*' : version);
  const fits = (each: Vendored): boolean =>
    version === '' || each.version === version || (range.ok && range.range.includes(each.version));
  if (same.some(fits)) return true;
  const wrong = same.find((each) => each.folder);
  if (wrong !== undefined) {
    throw refused(
      `${file} depends on ${name} ${version}, but charts/ holds a folder with ${wrong.version}; run \`helm dependency update\`.`,
    );
  }
  return false;
}
