import { EspalierError } from '../api/index.ts';
import { lastWords, type RenderTools, runContained } from '../render/contained.ts';
import { withPrivateFolder } from '../render/private-folder.ts';

export interface LintMessage {
  severity: 'info' | 'warning' | 'error';
  message: string;
}

const TIMEOUT_MS = 60_000;
const OUTPUT_BYTES = 4 * 1024 * 1024;

/** What `helm lint` says of a packaged chart. With `strict` warnings make it fail too. Places are those of the folder `path`. */
export async function lintChart(
  chart: { name: string; archive: string; path: string },
  tools: RenderTools,
  signal: AbortSignal,
): Promise<LintMessage[]> {
  const result = await withPrivateFolder((folder) =>
    runContained(tools, {
      tool: 'helm',
      args: ['lint', chart.archive],
      folder,
      timeoutMs: TIMEOUT_MS,
      outputBytes: OUTPUT_BYTES,
      secrets: [],
      signal,
    }),
  );
  const found = messagesIn(result.stdout, chart);
  if (result.code === 0 || found.some(({ severity }) => severity === 'error')) return found;
  throw new EspalierError('ChartRefused', `helm lint: ${lastWords(result.stderr)}`, { retry: false });
}

const SEVERITIES = { INFO: 'info', WARNING: 'warning', ERROR: 'error' } as const;

/** `[ERROR] templates/: …`, over several lines where the message has some. */
export function messagesIn(output: string, { name, path }: { name: string; path: string }): LintMessage[] {
  const parts = output.matchAll(
    /^\[(INFO|WARNING|ERROR)\] ([\s\S]*?)(?=\n\[(?:INFO|WARNING|ERROR)\] |\n\n|\n*$(?![\s\S]))/gm,
  );
  return [...parts].map(([, severity, text = '']) => ({
    severity: SEVERITIES[severity as keyof typeof SEVERITIES],
    // Helm calls files by the name of the chart, people by where they are.
    message: text
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ')
      .replace(/^\S*\/helm-lint\d+\/[^:\s]+: /, '')
      .replaceAll(`${name}/templates/`, path === '.' ? 'templates/' : `${path}/templates/`),
  }));
}
