import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { describeBytes } from '../git/limits.ts';
import { type FileTree, joinPath, splitPath } from '../git/tree.ts';
import type { Chart } from './cache.ts';
import { type ChartYaml, sameVersion } from './chart-yaml.ts';
import { isArchiveOf, type Missing, readFolder } from './dependencies.ts';
import { refused } from './errors.ts';
import { parseHelmignore } from './helmignore.ts';
import type { ChartLimits } from './limits.ts';
import { type PackedFile, writeTgz } from './tar-write.ts';
import { fileInTgz } from './tgz-files.ts';

/** How folders become archives. Another way of packing counts as another chart. */
const PACKING = 1;
const MAX_LOCAL_DEPTH = 5;
const MAX_LOCAL_CHARTS = 100;

export interface PackParts {
  limits: ChartLimits;
  temporary(): Promise<string>;
  /** A dependency from a server, checked. */
  fetch(missing: Missing): Promise<Chart>;
}

export type GitChart =
  | { form: 'archive'; path: string; id: string }
  | { form: 'folder'; path: string; id: string; chart: ChartYaml };

/** What is at a path, and an id that changes when and only when the chart would, local dependencies included. */
export async function lookAtGit(tree: FileTree, path: string): Promise<GitChart> {
  const clean = splitPath(path).join('/');
  const oid = await tree.id(clean);
  if (oid === undefined)
    throw refused(`There is nothing at ${JSON.stringify(path)} in Git; check the path of the chart.`);
  if ((await tree.id(joinPath(clean, 'Chart.yaml'))) === undefined && (await tree.list(clean)).length === 0) {
    return { form: 'archive', path: clean, id: `git:${oid}` };
  }
  const ids: string[] = [];
  const chart = await collectIds(tree, clean, ids, 1);
  const id = createHash('sha256')
    .update(JSON.stringify([PACKING, ...ids]))
    .digest('hex');
  return { form: 'folder', path: clean, id: `git:${id}`, chart };
}

async function collectIds(tree: FileTree, path: string, ids: string[], depth: number): Promise<ChartYaml> {
  if (depth > MAX_LOCAL_DEPTH)
    throw refused(`The charts in Git that ${path} depends on depend on each other more than ${MAX_LOCAL_DEPTH} deep.`);
  if (ids.length >= 2 * MAX_LOCAL_CHARTS)
    throw refused(`The chart depends on more than ${MAX_LOCAL_CHARTS} charts in Git.`);
  const { chart, missing } = await readFolder(tree, path);
  ids.push(path, (await tree.id(path)) ?? '');
  for (const one of missing) if (one.from === 'folder') await collectIds(tree, one.path, ids, depth + 1);
  return chart;
}

/** A .tgz, or a .tgz `inside` of one. */
export async function writeGitArchive(
  { tree, path, inside }: { tree: FileTree; path: string; inside?: string },
  file: string,
  limits: ChartLimits,
): Promise<void> {
  const whole = await tree.read(path);
  const tooLarge = () => refused(`${inside} of ${path} in Git has more than ${describeBytes(limits.archiveBytes)}.`);
  const bytes =
    inside === undefined || whole === undefined ? whole : await fileInTgz(whole, inside, limits.archiveBytes, tooLarge);
  if (bytes === undefined && whole !== undefined)
    throw refused(`${path} in Git holds no ${inside}; check source.git.inside.`);
  if (bytes === undefined)
    throw refused(`${path} in Git is neither a folder with a Chart.yaml nor an archive of a chart.`);
  if (bytes.length > limits.archiveBytes)
    throw refused(`${path} in Git has more than ${describeBytes(limits.archiveBytes)}.`);
  await writeFile(file, bytes, { flag: 'wx', mode: 0o600 });
}

/** Packs the folder of a chart with all that it depends on, as `helm package` would after `helm dependency build`. */
export async function packFolder(tree: FileTree, path: string, file: string, parts: PackParts): Promise<void> {
  await writeTgz(file, filesOf(tree, path, parts));
}

async function* filesOf(tree: FileTree, path: string, parts: PackParts): AsyncGenerator<PackedFile> {
  const { chart, missing } = await readFolder(tree, path);
  const replaced = (name: string): boolean => missing.some((one) => isArchiveOf(one.name, name));
  yield* ownFiles(tree, path, chart.name, parts.limits, replaced);
  const added = new Set<string>();
  for (const one of missing) {
    const name = `${one.name}-${one.version}.tgz`;
    if (added.has(name)) continue;
    added.add(name);
    yield { path: `${chart.name}/charts/${name}`, data: await dependency(tree, one, parts) };
  }
}

async function dependency(tree: FileTree, missing: Missing, parts: PackParts): Promise<Uint8Array> {
  if (missing.from !== 'folder') return readFile((await parts.fetch(missing)).archive);
  const { chart } = await readFolder(tree, missing.path);
  if (chart.name !== missing.name || !sameVersion(chart.version, missing.version)) {
    throw refused(
      `Chart.lock says ${missing.name} ${missing.version}, but ${missing.path} holds ${chart.name} ${chart.version}; run \`helm dependency update\`.`,
    );
  }
  const file = await parts.temporary();
  await packFolder(tree, missing.path, file, parts);
  return readFile(file);
}

async function* ownFiles(
  tree: FileTree,
  path: string,
  root: string,
  limits: ChartLimits,
  replaced: (name: string) => boolean,
): AsyncGenerator<PackedFile> {
  const rules = await tree.read(joinPath(path, '.helmignore'));
  const ignores = parseHelmignore(Buffer.from(rules ?? []).toString('utf8'));
  if (ignores('Chart.yaml', false)) {
    const why = 'to Helm a rule with "!" leaves out all that it does not match';
    throw refused(`${joinPath(path, '.helmignore')} in Git leaves out Chart.yaml (${why}); take that rule away.`);
  }
  let files = 0;
  let bytes = 0;
  const open = [path];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of await tree.list(folder)) {
      const inside = path === '' ? entry.path : entry.path.slice(path.length + 1);
      if (ignores(inside, entry.type === 'folder')) continue;
      files += 1;
      if (files > limits.files)
        throw refused(`The chart ${path} in Git has more than ${limits.files} files and folders.`);
      if (entry.type === 'folder') {
        open.push(entry.path);
        continue;
      }
      if (entry.type !== 'file') {
        const what = entry.type === 'link' ? 'a link' : 'a submodule';
        throw refused(
          `${entry.path} in Git is ${what}, which is not followed; put the file itself there, or name it in .helmignore.`,
          { path: entry.path },
        );
      }
      if (folder === joinPath(path, 'charts') && replaced(entry.name)) continue;
      const data = (await tree.read(entry.path)) ?? new Uint8Array();
      bytes += data.length;
      if (bytes > limits.unpackedBytes)
        throw refused(`The chart ${path} in Git has more than ${describeBytes(limits.unpackedBytes)}.`);
      yield { path: `${root}/${inside}`, data };
    }
  }
}
