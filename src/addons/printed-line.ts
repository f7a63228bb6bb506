import { isError } from '../api/index.ts';
import { addonChart } from '../render/addon-chart.ts';
import { type RenderTools, runContained } from '../render/contained.ts';
import { DEFAULT_RENDER_LIMITS } from '../render/limits.ts';
import { withPrivateFolder, writeFiles } from '../render/private-folder.ts';
import { parseYaml } from '../render/yaml.ts';
import { templateValues } from '../resolve/values.ts';
import type { ParameterSet } from './parameter-sets.ts';
import { type Addon, placeOf } from './read-addon.ts';

/** The first line of what a file prints that is not YAML, and why: nobody sees that text otherwise. For its author alone. */
export async function brokenLine(
  file: string,
  addon: Addon,
  set: ParameterSet,
  tools: RenderTools,
): Promise<{ line: number; text: string; reason: string } | undefined> {
  const printed = (await printedFiles(addon, set, tools)).get(file);
  if (printed === undefined) return undefined;
  let line = 1;
  // As Helm cuts it; a document that is broken hides what comes after it.
  for (const document of printed.split(/^(?=---)/m)) {
    try {
      parseYaml(document, file, line);
    } catch (error) {
      if (!isError(error) || typeof error.data.line !== 'number') return undefined;
      const { line: at, reason } = error.data;
      // Where something is not closed it is found at the end.
      const text =
        printed
          .split('\n')
          .slice(0, at)
          .findLast((one) => one.trim() !== '') ?? '';
      return { line: at, text: text.trim(), reason: String(reason) };
    }
    line += document.split('\n').length - 1;
  }
  return undefined;
}

/** What each file prints, YAML or not. */
async function printedFiles(addon: Addon, set: ParameterSet, tools: RenderTools): Promise<Map<string, string>> {
  const values = templateValues({ values: set.values });
  const chart = addonChart(addon.files, values);
  const { stdout } = await withPrivateFolder(async (folder) => {
    await writeFiles(folder, new Map([...chart.files].map(([name, content]) => [`chart/${name}`, content])));
    return await runContained(tools, {
      tool: 'helm',
      args: [
        ...['template', addon.name, 'chart', '--namespace', placeOf(addon), '--values', '-'],
        // What it can't read it prints with --debug only.
        ...['--skip-schema-validation', '--debug'],
      ],
      folder,
      input: JSON.stringify(values),
      timeoutMs: DEFAULT_RENDER_LIMITS.timeoutMs,
      outputBytes: DEFAULT_RENDER_LIMITS.outputBytes,
      secrets: [],
    });
  });
  const files = new Map<string, string>();
  for (const part of stdout.split(/^---\n(?=# Source: )/m)) {
    const [, name = '', text = ''] = /^# Source: (.*)\n([\s\S]*)$/.exec(part) ?? [];
    const file = chart.names.get(name);
    if (file === undefined) continue;
    const before = files.get(file);
    files.set(file, before === undefined ? text : `${before}---\n${text}`);
  }
  return files;
}
