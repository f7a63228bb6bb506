import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EspalierError, type JsonObject, type KubeObject } from '../api/index.ts';
import { roleOf } from '../release/hooks.ts';
import { type Hook, type Release, writeRecord } from '../release/record.ts';
import { type ClusterView, type ReadPath, STAND_IN } from './cluster-view.ts';
import { lastWords, type RenderTools, runContained } from './contained.ts';
import type { Sourced } from './helm-manifest.ts';
import type { RenderLimits } from './limits.ts';
import { parseObjects } from './parse-stream.ts';
import { withPrivateFolder, writeFiles } from './private-folder.ts';
import { refuseDuplicates, roundedNumbers } from './rendered.ts';
import { type SchemaFault, schemaFaults } from './schema-faults.ts';

export interface ChartRenderInput {
  release: { name: string; namespace: string; revision: number };
  /** A checked archive of the chart. */
  archive: string;
  /** What it is called in messages. */
  title: string;
  values: JsonObject;
  secrets: readonly string[];
  view: ClusterView;
  discovery: ReadPath;
  /** Undefined: templates find nothing when they look something up. */
  objects: ReadPath | undefined;
  limits: RenderLimits;
  signal?: AbortSignal | undefined;
}

export interface SourcedHook extends Sourced {
  hook: Omit<Hook, 'manifest'>;
}

export interface RenderedChart {
  objects: Sourced[];
  hooks: SourcedHook[];
  /** The parts of the release's record that Helm alone can make. */
  draft: { chart: JsonObject; config?: JsonObject; notes?: string };
  warnings: string[];
}

const FILE_NAME = 'postrenderer.helm.sh/postrender-filename';
const PLUGIN = `apiVersion: v1
type: postrenderer/v1
name: capture
version: 1.0.0
runtime: subprocess
runtimeConfig:
  platformCommand:
    - command: /bin/sh
      args: ["-c", "/bin/cat > captured.yaml && echo '${JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: STAND_IN } }).replaceAll('"', '\\"')}'"]
`;

/**
 * Renders a chart with Helm itself, as an install or as the upgrade that makes this revision. The whole stream, hooks
 * included, is captured on its way through a post-renderer; Helm then goes on with nothing. It reads the cluster through
 * the view alone, and writes nothing anywhere.
 */
export async function renderChart(input: ChartRenderInput, tools: RenderTools): Promise<RenderedChart> {
  const { release, view, limits, signal, title } = input;
  const isUpgrade = release.revision > 1;
  const session = await view.open({
    discovery: input.discovery,
    objects: input.objects,
    release,
    records: isUpgrade ? [recordBefore(release)] : [],
  });
  try {
    return await withPrivateFolder(async (folder) => {
      const files = { 'kubeconfig.json': session.kubeconfig, 'home/plugins/capture/plugin.yaml': PLUGIN };
      await writeFiles(folder, new Map(Object.entries(files)));
      const result = await runContained(tools, {
        tool: 'helm',
        args: [
          ...[isUpgrade ? 'upgrade' : 'install', release.name, input.archive, '--namespace', release.namespace],
          ...['--dry-run=server', '--output', 'json', '--post-renderer', 'capture'],
          // Standard input: values may be secret, and neither arguments nor files shall hold them.
          ...['--disable-openapi-validation', '--values', '-'],
        ],
        folder,
        kubeconfig: join(folder, 'kubeconfig.json'),
        input: JSON.stringify(input.values),
        timeoutMs: limits.timeoutMs,
        outputBytes: limits.outputBytes,
        secrets: input.secrets,
        signal,
      });
      if (result.code !== 0) {
        const faults = schemaFaults(result.stderr);
        if (faults !== undefined) throw schemaError(title, faults);
        throw new EspalierError('RenderFailed', `${title}: ${withoutPrefix(lastWords(result.stderr))}`, {
          retry: true,
        });
      }
      const captured = await readFile(join(folder, 'captured.yaml'), 'utf8');
      return { ...(await sortStream(captured, input)), draft: draftOf(JSON.parse(result.stdout) as Release) };
    });
  } finally {
    session.close();
  }
}

async function sortStream(
  text: string,
  { title, limits, signal }: ChartRenderInput,
): Promise<Pick<RenderedChart, 'objects' | 'hooks' | 'warnings'>> {
  const parsed = await parseObjects(text, title, () => title, { limits, signal });
  const objects: Sourced[] = [];
  const hooks: SourcedHook[] = [];
  const warnings: string[] = [];
  for (const { object: captured } of parsed) {
    const { object, path } = withoutFileName(captured);
    const role = roleOf(object, path);
    if (role.role === 'hook') hooks.push({ object, path, hook: role.hook });
    else if (role.role === 'object') objects.push({ object, path });
    else
      warnings.push(
        `${path}: ${object.kind} ${object.metadata.name} names a hook that Helm does not know, and is left out`,
      );
  }
  const rendered = objects.map(({ object, path }) => ({ object, origin: path }));
  refuseDuplicates(rendered);
  return { objects, hooks, warnings: [...warnings, ...roundedNumbers(rendered)] };
}

function withoutFileName(object: KubeObject): Sourced {
  const { [FILE_NAME]: path = '', ...annotations } = object.metadata.annotations ?? {};
  const { annotations: _, ...metadata } = object.metadata;
  const rest = Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations };
  return { object: { ...object, metadata: rest }, path };
}

function draftOf({ chart, config, info }: Release): RenderedChart['draft'] {
  const notes = info.notes === undefined || info.notes === '' ? {} : { notes: info.notes };
  return { chart, ...(config === undefined ? {} : { config }), ...notes };
}

/** What Helm takes for the revision before: it reads the number from it, and nothing else of it is used. */
function recordBefore({ name, namespace, revision }: ChartRenderInput['release']): KubeObject {
  const chart = {
    metadata: { name: 'before', version: '0.0.0', apiVersion: 'v2' },
    templates: [],
    values: {},
    files: [],
  };
  const long_ago = '2000-01-01T00:00:00Z';
  return writeRecord(
    {
      name,
      namespace,
      version: revision - 1,
      info: { first_deployed: long_ago, last_deployed: long_ago, status: 'deployed', description: '' },
      chart,
      manifest: '',
      apply_method: 'ssa',
    },
    {},
  );
}

function schemaError(title: string, faults: readonly SchemaFault[]): EspalierError {
  const told = faults.map(({ pointer, message }) => `values${pointer.replaceAll('/', '.')}: ${message}`);
  return new EspalierError('ValuesRefused', `${title} does not take these values: ${told.join('; ')}`, {
    data: { faults },
    retry: false,
  });
}

/** Helm tells first that something failed, then what. */
function withoutPrefix(message: string): string {
  return message.replace(/^(INSTALLATION FAILED|UPGRADE FAILED): /, '').replace(/^failed to render resource: /, '');
}
