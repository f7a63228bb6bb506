import { EspalierError } from '../api/index.ts';
import { type AddonFile, addonChart, isTemplate, withRealNames } from './addon-chart.ts';
import { lastWords, runContained } from './contained.ts';
import { parseObjects } from './parse-stream.ts';
import { withPrivateFolder, writeFiles } from './private-folder.ts';
import type { RenderContext, RenderedObjects } from './render-input.ts';
import { filesBelow, Reader } from './source-files.ts';

/** What describes an add-on is no manifest of it. */
const DESCRIPTION = /^addon\.ya?ml$/;

/** Go templates with bare parameters, rendered by Helm's own engine; other files beside them are read by `.Files.Get`. */
export async function renderTemplates(context: RenderContext): Promise<RenderedObjects> {
  const { tree, path, limits, signal, secrets, tools, values } = context;
  // A template would read a link beside it as an empty file.
  const below = await filesBelow(tree, path, limits, { allAreRead: true });
  const found = below.filter((file) => !DESCRIPTION.test(file.name));
  if (!found.some((file) => isTemplate(file.name))) return { objects: [], warnings: [] };
  const reader = new Reader(tree, limits, signal);
  const files: AddonFile[] = [];
  for (const file of found) files.push({ ...file, content: await reader.bytes(file.path) });
  const chart = addonChart(files, values);
  const output = await withPrivateFolder(async (folder) => {
    await writeFiles(folder, new Map([...chart.files].map(([name, content]) => [`chart/${name}`, content])));
    const result = await runContained(tools, {
      tool: 'helm',
      args: ['template', context.plugin.name, 'chart', ...flags(context)],
      folder,
      input: JSON.stringify(values),
      timeoutMs: context.remainingMs(),
      outputBytes: limits.outputBytes,
      secrets,
      signal,
    });
    if (result.code !== 0) {
      const reason = withRealNames(lastWords(result.stderr), chart.names);
      throw new EspalierError('RenderFailed', `rendering ${path}: ${reason}`, { data: { path } });
    }
    return result.stdout;
  });
  const markOf = marksOf(output, chart.names);
  const originOf = (line: number): string => markOf(line)?.file ?? path;
  try {
    const objects = await parseObjects(output, path, originOf, { limits, signal });
    return { objects, warnings: chart.warnings };
  } catch (error) {
    throw notYaml(error, path, markOf);
  }
}

function flags({ targetNamespace, facts }: RenderContext): string[] {
  return [
    // Standard input: values may be secret, and neither arguments nor files shall hold them.
    ...['--values', '-'],
    ...['--namespace', targetNamespace],
    '--skip-schema-validation',
    ...(facts.kubernetesVersion === undefined ? [] : ['--kube-version', facts.kubernetesVersion]),
    ...(facts.apiVersions === undefined ? [] : ['--api-versions', facts.apiVersions.join(',')]),
  ];
}

interface Mark {
  line: number;
  file: string;
}

/** Helm writes `# Source: addon/templates/…` above each document: which of them a line is below. */
function marksOf(output: string, names: ReadonlyMap<string, string>): (line: number) => Mark | undefined {
  const marks: Mark[] = [];
  for (const [index, text] of output.split('\n').entries()) {
    const file = text.startsWith('# Source: ') ? names.get(text.slice('# Source: '.length)) : undefined;
    if (file !== undefined) marks.push({ line: index + 1, file });
  }
  return (line) => marks.findLast((mark) => mark.line <= line);
}

/** What all files print together nobody sees: the fault is told by its file, as Helm tells those that it finds itself. */
function notYaml(error: unknown, path: string, markOf: (line: number) => Mark | undefined): unknown {
  if (!(error instanceof EspalierError)) return error;
  const { line, reason } = error.data;
  const mark = typeof line === 'number' ? markOf(line) : undefined;
  if (mark === undefined || typeof line !== 'number' || typeof reason !== 'string') return error;
  const what = `YAML parse error on ${mark.file}: line ${line - mark.line}: ${reason}`;
  return new EspalierError('RenderFailed', `rendering ${path}: ${what}`, { data: { file: mark.file }, retry: false });
}
