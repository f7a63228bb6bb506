import { EspalierError, type JsonObject } from '../api/index.ts';
import { CHART, parameters, withRealNames } from './addon-chart.ts';
import { lastWords, type RenderTools, runContained } from './contained.ts';
import { withPrivateFolder, writeFiles } from './private-folder.ts';

export interface TextTemplates {
  /** What a file is called in messages, and its Go template. */
  files: ReadonlyMap<string, Uint8Array>;
  values: JsonObject;
  timeoutMs: number;
  outputBytes: number;
  signal?: AbortSignal;
}

/**
 * Texts of any kind (a script, a `daemon.json`) as Go templates with bare parameters, by Helm's own engine. Helm would
 * take what they print for manifests and change its white space: so each is printed as the data of one, in base64. A
 * value that nobody gave is refused, for no script means it; one that may be missing has a default.
 */
export async function renderTexts(
  { files, values, timeoutMs, outputBytes, signal }: TextTemplates,
  tools: RenderTools,
): Promise<Map<string, Buffer>> {
  if (files.size === 0) return new Map();
  const names = new Map<string, string>();
  const chart = new Map<string, Uint8Array | string>([
    ['chart/Chart.yaml', `apiVersion: v2\nname: ${CHART}\nversion: 0.0.0\n`],
  ]);
  for (const [index, [name, content]] of [...files].entries()) {
    const body = `templates/_${index}.tpl`;
    const data = `(deepCopy ${parameters(values, '.Values')})`;
    chart.set(`chart/${body}`, content);
    chart.set(
      `chart/templates/${index}.yaml`,
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: text-${index}}\nbinaryData: {text: "{{ include "${CHART}/${body}" ${data} | b64enc }}"}\n`,
    );
    for (const file of [body, `templates/${index}.yaml`]) names.set(`${CHART}/${file}`, name);
  }
  const output = await withPrivateFolder(async (folder) => {
    await writeFiles(folder, chart);
    const result = await runContained(tools, {
      tool: 'helm',
      args: ['template', 'texts', 'chart', '--values', '-', '--skip-schema-validation'],
      folder,
      input: JSON.stringify(values),
      timeoutMs,
      outputBytes,
      secrets: [],
      signal,
    });
    if (result.code !== 0)
      throw new EspalierError('RenderFailed', withRealNames(ownWords(lastWords(result.stderr)), names), {
        retry: false,
      });
    return result.stdout;
  });
  const printed = /^metadata: \{name: text-(\d+)\}\nbinaryData: \{text: "([^"]*)"\}$/gm;
  const texts = new Map([...output.matchAll(printed)].map(([, index, text]) => [Number(index), text ?? '']));
  const results = new Map(
    [...files.keys()].map((name, index) => [name, Buffer.from(texts.get(index) ?? '', 'base64')]),
  );
  const lacking = [...results].find(([name, text]) => text.includes(NO_VALUE) && !holds(files.get(name), NO_VALUE));
  if (lacking === undefined) return results;
  throw new EspalierError(
    'RenderFailed',
    `${lacking[0]} asks for a value that is not there: give it in values, or write {{ .name | default "…" }}`,
    { retry: false },
  );
}

/** What Go prints for a value that is missing. In a manifest Helm takes it out. */
const NO_VALUE = '<no value>';

function holds(bytes: Uint8Array | undefined, text: string): boolean {
  return bytes !== undefined && Buffer.from(bytes).includes(text);
}

/** Without the place of our own line that runs the template. */
function ownWords(message: string): string {
  return message.replace(/^.* error calling include: /, '').replace(/(\/templates\/\d+\.yaml):\d+:\d+/g, '$1');
}
