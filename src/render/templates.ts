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
  const found = (await filesBelow(tree, path, limits)).filter((file) => !DESCRIPTION.test(file.name));
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
  const originOf = originsOf(output, chart.names, path);
  const objects = await parseObjects(output, path, originOf, { limits, signal });
  return { objects, warnings: chart.warnings };
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

/** Helm writes `# Source: addon/templates/…` above each document. */
function originsOf(output: string, names: ReadonlyMap<string, string>, path: string): (line: number) => string {
  const marks: { line: number; file: string }[] = [];
  for (const [index, text] of output.split('\n').entries()) {
    const file = text.startsWith('# Source: ') ? names.get(text.slice('# Source: '.length)) : undefined;
    if (file !== undefined) marks.push({ line: index + 1, file });
  }
  return (line) => marks.findLast((mark) => mark.line <= line)?.file ?? path;
}
