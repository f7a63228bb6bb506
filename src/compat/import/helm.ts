import { EspalierError, type Json, type JsonObject, LABEL } from '../../api/index.ts';
import { chartsIn } from '../../release/made-of.ts';
import { isPending, type Release } from '../../release/record.ts';
import { draftPlugin, Import, type Imported, type Leave } from './imported.ts';
import { mapAt, textAt } from './read.ts';
import { chartOf, type RecordedChart } from './record-chart.ts';
import { secretPaths, splitValues } from './secret-values.ts';

/** A release in a cluster: the revision that is in force, and what is known beside its record. */
export interface FoundRelease {
  name: string;
  namespace: string;
  /** Undefined when no revision is deployed. */
  deployed: Release | undefined;
  /** State and number of its newest revision. */
  newest: { revision: number; status: string };
  labels: Readonly<Record<string, string>>;
  /** Why its records could not be read. */
  unreadable?: string;
  /** Somebody else who makes its revisions, such as `HelmRelease apps/podinfo`. */
  owner?: string;
}

export interface HelmWorld {
  printYaml(value: Json): string;
  /** Where this very chart is: `source` of a Plugin. Undefined: in none of the places that were named. */
  published(release: FoundRelease): JsonObject | undefined;
  /** Chart.lock for the charts that a chart from a record is made of; a reason when they can't be had. */
  lockFor(chart: RecordedChart): { text: string } | { why: string };
  valuesToSecret: boolean;
}

/** The two labels that helm-controller puts on every object, in the order in which Helm writes them. */
const FLUX =
  /^ +helm\.toolkit\.fluxcd\.io\/name: "?([^"\s]+)"?\n +helm\.toolkit\.fluxcd\.io\/namespace: "?([^"\s]+)"?$/m;

/** Who, by the labels of its objects, makes the revisions of a release. */
export function makerOf(release: Release): string | undefined {
  const [, name, namespace] = FLUX.exec(release.manifest) ?? [];
  return name === undefined ? undefined : `HelmRelease ${namespace}/${name}`;
}

export function fromHelm(releases: readonly FoundRelease[], world: HelmWorld): Imported {
  const result = new Import();
  for (const found of releases) {
    const title = `release ${found.namespace}/${found.name}`;
    const leave = result.leaver(title);
    const why = whyNot(found);
    if (why !== undefined || found.deployed === undefined) {
      leave('', why ?? `none of its revisions is deployed; the newest is ${found.newest.status}`);
      continue;
    }
    fromRecord(found, found.deployed, title, world, result, leave);
  }
  return result;
}

function whyNot({ unreadable, labels, owner, newest, deployed }: FoundRelease): string | undefined {
  if (unreadable !== undefined) return unreadable;
  const plugin = labels[LABEL.owner];
  if (plugin !== undefined)
    return `it is the release of Plugin ${labels[LABEL.ownerNamespace] ?? ''}/${plugin} already`;
  if (owner !== undefined)
    return `${owner} makes it: import that (espalier import ${owner.startsWith('Plugin ') ? 'kubegems' : 'flux'})`;
  if (isPending(newest.status) || newest.status === 'uninstalling')
    return `revision ${newest.revision} is ${newest.status}: somebody is at work on it, or was stopped while at it`;
  if (newest.status === 'uninstalled') return 'it is uninstalled, and only its history is kept';
  return deployed === undefined ? `none of its revisions is deployed; the newest is ${newest.status}` : undefined;
}

function fromRecord(
  found: FoundRelease,
  release: Release,
  title: string,
  world: HelmWorld,
  result: Import,
  leave: Leave,
): void {
  const { name, namespace, newest } = found;
  if (release.version !== newest.revision)
    leave(
      '',
      `revision ${newest.revision} is ${newest.status}: what revision ${release.version} was made of is declared`,
    );
  const source = world.published(found) ?? written(release, world, result, leave);
  if (source === undefined) return;
  const values = mapAt(release, 'config') ?? {};
  const secrets = secretPaths(values);
  const told = secrets.map((path) => path.join('.')).join(', ');
  if (secrets.length > 0 && !world.valuesToSecret) {
    leave(
      'values',
      `${told} ${secrets.length === 1 ? 'looks' : 'look'} like secrets and stand in the file of the Plugin as they are: import again with --values-to-secret, or move them by hand, before you commit`,
    );
  }
  const split = world.valuesToSecret ? splitValues(values, secrets) : { secret: {}, rest: values };
  const secretName = `${name}-values`;
  const isSplit = Object.keys(split.secret).length > 0;
  const added = result.add(
    title,
    draftPlugin(namespace, name, {
      kind: 'helm',
      source,
      valuesFrom: isSplit ? [{ kind: 'Secret', name: secretName, key: 'values.yaml' }] : [],
      values: split.rest,
    }),
  );
  if (!added || !isSplit) return;
  leave(
    'values',
    `${told} went into secrets/${namespace}/${secretName}.yaml: apply it (kubectl apply -f), and commit it encrypted or not at all`,
  );
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secretName, namespace },
    stringData: { 'values.yaml': world.printYaml(split.secret) },
  };
  result.files.set(`secrets/${namespace}/${secretName}.yaml`, world.printYaml(secret));
}

/** The chart itself as a folder of the repository; each version once, and once more where records differ. */
function written(release: Release, world: HelmWorld, result: Import, leave: Leave): JsonObject | undefined {
  let chart: RecordedChart;
  try {
    chart = chartOf(release, world.printYaml);
  } catch (error) {
    if (!(error instanceof EspalierError)) throw error;
    leave('chart', error.message);
    return undefined;
  }
  const title = `${chart.name}-${chart.version}`;
  const lacks = (why: string): undefined =>
    leave(
      'chart',
      `${title} is made of other charts, which a record does not hold, and ${why}; name the repository that it came from with --repository`,
    ) as undefined;
  const declared = chart.dependencies.flatMap(({ name, alias }) => [name, alias]);
  const undeclared = chartsIn(release).filter((name) => !declared.includes(name));
  if (undeclared.length > 0) return lacks(`nothing says where ${undeclared.join(', ')} came from`);
  if (chart.dependencies.length > 0) {
    const lock = world.lockFor(chart);
    if ('why' in lock) return lacks(lock.why);
    chart.files.set('Chart.lock', lock.text);
  }
  const folder = freeFolder(title.replace(/[^A-Za-z0-9._-]/g, '_'), chart, result);
  for (const [path, content] of chart.files) result.files.set(`${folder}/${path}`, content);
  leave(
    'chart',
    `${title} is in none of the repositories that were named (--repository): it was written to ${folder}, out of the record`,
  );
  return { git: { path: folder } };
}

function freeFolder(title: string, { files }: RecordedChart, result: Import): string {
  for (let number = 1; ; number++) {
    const folder = `charts/${title}${number === 1 ? '' : `.${number}`}`;
    const there = [...result.files.keys()].filter((path) => path.startsWith(`${folder}/`));
    const isSame =
      there.length === files.size &&
      [...files].every(([path, content]) => same(result.files.get(`${folder}/${path}`), content));
    if (there.length === 0 || isSame) return folder;
  }
}

function same(a: string | Uint8Array | undefined, b: string | Uint8Array): boolean {
  return a !== undefined && Buffer.from(a as string).equals(Buffer.from(b as string));
}

/** `name` and `version` of the chart of a record. */
export function chartNameOf(release: Release): { name: string; version: string } {
  return {
    name: textAt(release.chart, 'metadata', 'name') ?? '',
    version: textAt(release.chart, 'metadata', 'version') ?? '',
  };
}
