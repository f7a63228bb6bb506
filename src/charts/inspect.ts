import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describeBytes } from '../git/limits.ts';
import { checkPath, quoted } from './archive-path.ts';
import { Budget, inflated } from './budget.ts';
import { type ChartYaml, parseChartYaml } from './chart-yaml.ts';
import { refused } from './errors.ts';
import type { ChartLimits } from './limits.ts';
import { readTar } from './tar-read.ts';

export interface Crd {
  file: string;
  text: string;
}

/** What an archive proved to be. */
export interface Inspected {
  chart: ChartYaml;
  crds: Crd[];
  usesLookup: boolean;
}

interface Found extends Inspected {
  /** Charts of charts/, by the name of their folder or file. */
  nested: { name: string; crds: Crd[] }[];
}

/** A file of the chart itself or of one in its folders charts/; Helm passes over names that begin with a dot or `_`. */
const CRD = /^((?:charts\/[^/._][^/]*\/)*)crds\/.+\.(?:ya?ml|json)$/;
const TEMPLATE = /^(?:charts\/[^/._][^/]*\/)*templates\//;
const ARCHIVE = /^((?:charts\/[^/._][^/]*\/)*)charts\/([^/._][^/]*)\.tgz$/;

const SCHEMA = /^(?:charts\/[^/._][^/]*\/)*values\.schema\.json$/;

/**
 * Reads an archive once, from its beginning to its end, with bounded memory, and refuses whatever Helm should not see: links,
 * devices, ways out of its folder, too much of anything. Archives in it are held to the same.
 */
export async function inspectArchive(file: string, limits: ChartLimits): Promise<Inspected> {
  const { size } = await stat(file);
  if (size > limits.archiveBytes) {
    throw refused(`The chart's archive has ${describeBytes(size)}; ${describeBytes(limits.archiveBytes)} are allowed.`);
  }
  const { chart, crds, usesLookup } = await inspect(createReadStream(file), new Budget(size, limits), 1, '');
  return { chart, crds, usesLookup };
}

/** The same for one that is in memory. */
export async function inspectBytes(archive: Uint8Array, limits: ChartLimits): Promise<Inspected> {
  const { chart, crds, usesLookup } = await inspect(
    Readable.from([archive]),
    new Budget(archive.length, limits),
    1,
    '',
  );
  return { chart, crds, usesLookup };
}

async function inspect(source: Readable, budget: Budget, depth: number, where: string): Promise<Found> {
  const { limits } = budget;
  if (depth > limits.depth) throw refused(`The chart holds charts in charts more than ${limits.depth} deep${where}.`);
  const seen = new Set<string>();
  const crds: Crd[] = [];
  const nested: { name: string; crds: Crd[] }[] = [];
  let root: string | undefined;
  let chart: ChartYaml | undefined;
  let usesLookup = false;
  const wants = (path: string): boolean => {
    const inside = path.slice(path.indexOf('/') + 1);
    return (
      inside === 'Chart.yaml' ||
      CRD.test(inside) ||
      TEMPLATE.test(inside) ||
      SCHEMA.test(inside) ||
      ARCHIVE.test(inside)
    );
  };
  for await (const entry of readTar(inflated(source, budget, where), { maxFileBytes: limits.fileBytes, wants })) {
    budget.countFile(where);
    const path = checkPath(entry.path, where);
    const [top = '', ...rest] = path.split('/');
    if (entry.type === 'file' && rest.length === 0) {
      throw refused(
        `The chart's archive has ${quoted(path)} beside its folder${where}; all belongs into one folder. Pack it with \`helm package\`.`,
      );
    }
    root ??= top;
    if (top !== root)
      throw refused(
        `The chart's archive has two folders at its top, ${quoted(root)} and ${quoted(top)}${where}; it must have one.`,
      );
    if (entry.type === 'folder') continue;
    const inside = rest.join('/');
    if (entry.data === undefined) continue;
    // Of the rest some versions of Helm packed a file twice, and it does no harm.
    if (seen.has(inside)) throw refused(`The chart's archive holds ${quoted(path)} twice${where}.`, { path });
    seen.add(inside);
    if (inside === 'Chart.yaml') chart = parseChartYaml(entry.data, `${path}${where}`);
    if (CRD.test(inside)) crds.push({ file: inside, text: entry.data.toString('utf8') });
    if (TEMPLATE.test(inside)) usesLookup ||= /\blookup\b/.test(entry.data.toString('utf8'));
    if (SCHEMA.test(inside)) checkSchema(entry.data, path, where);
    const [, parents = '', archive] = ARCHIVE.exec(inside) ?? [];
    if (archive === undefined) continue;
    const inner = await inspect(Readable.from([entry.data]), budget, depth + 1, ` (in ${inside.slice(0, 200)})`);
    usesLookup ||= inner.usesLookup;
    const name = `${parents}charts/${inner.chart.name}`;
    nested.push({ name, crds: inner.crds.map(({ file, text }) => ({ file: `${name}/${file}`, text })) });
  }
  if (chart === undefined) throw refused(`The archive holds no Chart.yaml in its folder${where}: it is no chart.`);
  return { chart, crds: inHelmsOrder([...crds, ...nested.flatMap((one) => one.crds)]), usesLookup, nested };
}

/** A chart's own first, as they stand in the archive; then those of the charts in it, by name. */
function inHelmsOrder(crds: Crd[]): Crd[] {
  const ownerOf = ({ file }: Crd): string => CRD.exec(file)?.[1] ?? '';
  return crds
    .map((crd, at) => ({ crd, at, owner: ownerOf(crd) }))
    .sort((a, b) => (a.owner === b.owner ? a.at - b.at : a.owner < b.owner ? -1 : 1))
    .map(({ crd }) => crd);
}

/** Helm would read what a schema refers to, from the network or from this machine's files. */
function checkSchema(data: Uint8Array, path: string, where: string): void {
  let schema: unknown;
  try {
    schema = JSON.parse(Buffer.from(data).toString('utf8'));
  } catch {
    throw refused(`${path} is not JSON${where}.`, { path });
  }
  const outside = referenceOutside(schema);
  if (outside === undefined) return;
  throw refused(
    `${path} refers to ${quoted(outside)}${where}; a schema may refer to parts of itself alone (#/…). Copy what it needs into it.`,
    { path },
  );
}

const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

function referenceOutside(node: unknown): string | undefined {
  const open: unknown[] = [node];
  while (open.length > 0) {
    const one = open.pop();
    if (typeof one !== 'object' || one === null) continue;
    for (const [key, value] of Object.entries(one)) {
      if (REFERENCES.has(key) && typeof value === 'string' && !value.startsWith('#')) return value;
      open.push(value);
    }
  }
  return undefined;
}
