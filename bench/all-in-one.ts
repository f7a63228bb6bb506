import { API_VERSION } from '../src/api/index.ts';
import { toolPath } from '../src/tools/tool.ts';
import { deployment, smallChart } from './declarations.ts';
import { below, median, plainTable, type Row, seconds, spread } from './figures.ts';
import { inWorld, type World } from './world.ts';

const PLAIN = 40;
const RELEASES = 10;
const ROUNDS = 3;
const CHANGES = 5;
const FILL_TIMEOUT_MS = 180_000;

/** One chart that renders 50 Plugins, folders of manifests and Helm releases, from nothing to all of it healthy. */
export async function main(): Promise<Row[]> {
  // The agent of a benchmark has a cache of its own, and would build Helm first.
  process.env.ESPALIER_TOOL_HELM ??= await toolPath('helm');
  const rows = await inWorld(measure);
  console.log(`${plainTable(rows)}\n`);
  return rows;
}

async function measure(world: World): Promise<Row[]> {
  await world.commit(chart());
  const took: number[] = [];
  let last: Stack = stack('none');
  let cpu = 0;
  for (let round = 0; round < ROUNDS; round++) {
    last = stack(`r${round}`);
    const before = await world.agent.cpuMs();
    took.push(await pushed(world, { ...folders(last), ...declaration(last, 'one') }, last.names));
    cpu = (await world.agent.cpuMs()) - before;
  }
  const changes: number[] = [];
  for (let round = 0; round < CHANGES; round++)
    changes.push(await pushed(world, declaration(last, `change ${round}`), [last.name]));
  const what = `a chart of ${PLAIN + RELEASES} nested plugins, ${RELEASES} of them Helm releases, push to healthy`;
  return [
    below(`${what} (${took.map(seconds).join(', ')})`, median(took), 20_000, seconds),
    { what: 'processor time of the agent and its children for it', figure: seconds(cpu) },
    below(
      `a change of its values that one of them takes, push to healthy (${spread(changes)})`,
      median(changes),
      5_000,
      seconds,
    ),
  ];
}

interface Stack {
  name: string;
  plain: string[];
  releases: string[];
  /** All Plugins of it, itself included. */
  names: string[];
}

function stack(name: string): Stack {
  const numbered = (count: number, word: string) =>
    Array.from({ length: count }, (_, index) => `${name}-${word}-${index}`);
  const [plain, releases] = [numbered(PLAIN, 'plain'), numbered(RELEASES, 'release')];
  return { name, plain, releases, names: [name, ...plain, ...releases] };
}

async function pushed(world: World, files: Record<string, string>, names: readonly string[]): Promise<number> {
  const commit = await world.commit(files);
  const ready = world.plugins.ready(names, commit, FILL_TIMEOUT_MS);
  const hooked = await world.hook();
  return (await ready) - hooked;
}

function declaration({ name, plain, releases }: Stack, text: string): Record<string, string> {
  const spec = { kind: 'template', source: { git: { path: 'charts/all' } }, values: { plain, releases, text } };
  return {
    [`plugins/${name}.yaml`]: JSON.stringify({ apiVersion: API_VERSION, kind: 'Plugin', metadata: { name }, spec }),
  };
}

function folders({ plain }: Stack): Record<string, string> {
  return Object.fromEntries(
    plain.map((name) => [`apps/${name}/objects.yaml`, JSON.stringify(deployment(name, 'one'))]),
  );
}

function chart(): Record<string, string> {
  const small = Object.entries(smallChart()).map(([path, text]) => [`charts/small/${path}`, text]);
  return {
    ...Object.fromEntries(small),
    'charts/all/Chart.yaml': 'apiVersion: v2\nname: all\nversion: 1.0.0\n',
    'charts/all/values.yaml': 'plain: []\nreleases: []\ntext: none\n',
    'charts/all/templates/plugins.yaml': `{{- range .Values.plain }}
---
apiVersion: ${API_VERSION}
kind: Plugin
metadata: {name: {{ . }}}
spec:
  kind: manifests
  source: {git: {path: apps/{{ . }}}}
{{- end }}
{{- range $at, $name := .Values.releases }}
---
apiVersion: ${API_VERSION}
kind: Plugin
metadata: {name: {{ $name }}}
spec:
  kind: helm
  source: {git: {path: charts/small}}
  values:
    text: {{ if eq $at 0 }}{{ $.Values.text | quote }}{{ else }}one{{ end }}
{{- end }}
`,
  };
}
