import type { ImageRule } from '../images/rules.ts';
import { countOf, type Result } from '../mirror/outcome.ts';
import { type Job, runJobs } from '../mirror/parallel.ts';
import { plain } from '../plan/plain.ts';
import { showProgress } from '../tools/show-progress.ts';
import type { MirrorFlags } from './images-mirror.ts';
import { print, say } from './print.ts';

const MIRROR_VERSION = 'espalier.dev/mirror/v1';
const SUBJECT = 'images';

/** Runs the jobs in front of a person or a program. True when nothing is missing in the end. */
export async function report(
  jobs: readonly Job[],
  rules: readonly ImageRule[],
  flags: MirrorFlags,
  signal: AbortSignal,
): Promise<boolean> {
  const show = showProgress(process.stderr);
  const total = jobs.length;
  // On a terminal the bar tells how far it is; elsewhere every image has its line once it is done.
  const asLines = flags.output !== 'json';
  try {
    const results = await runJobs(jobs, {
      parallel: flags.parallel,
      signal,
      onProgress: ({ done, detail }) =>
        show({
          subject: SUBJECT,
          step: 'looking and copying',
          done,
          total,
          unit: 'images and charts',
          detail: plain(detail),
        }),
      onResult: (result) => asLines && tell(result),
    });
    show({ subject: SUBJECT, step: 'done', done: total, total, unit: 'images and charts' });
    if (!asLines) print(JSON.stringify(documentOf(MIRROR_VERSION, results, rules), null, 2));
    summarise(results, rules);
    return countOf(results, 'failed') + countOf(results, 'missing') === 0;
  } catch (error) {
    show({ subject: SUBJECT, step: 'failed' });
    throw error;
  }
}

const ERASE = '\r\u001b[K';

/** What is there already is only counted, unless all is to be told. */
export function tell({ kind, from, to, outcome }: Result, tellsAll = false): void {
  const clear = process.stderr.isTTY === true && process.stdout.isTTY === true ? ERASE : '';
  const what = `${kind === 'image' ? '' : `${kind} `}${from}`;
  if (outcome.state === 'copied') print(`${clear}copied   ${plain(`${what} → ${to}`)}`);
  else if (outcome.state === 'there' && tellsAll) print(`${clear}there    ${plain(`${what} → ${to}`)}`);
  else if (outcome.state === 'missing') print(`${clear}missing  ${plain(`${what} → ${to}`)}`);
  else if (outcome.state === 'failed') say(`${clear}✗ ${plain(`${what}: ${outcome.why}`)}`);
}

export function summarise(results: readonly Result[], rules: readonly ImageRule[]): void {
  const words = [
    [countOf(results, 'copied'), 'copied'],
    [countOf(results, 'there'), 'there already'],
    [countOf(results, 'missing'), 'missing'],
    [countOf(results, 'failed'), 'failed'],
  ] as const;
  const counts = words.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  say(counts.length === 0 ? 'nothing to copy' : counts.join(', '));
  if (rules.length === 0) return;
  say('The cluster pulls them there with these rules in spec.images.rewrite of the Sync:');
  for (const { from, to } of rules) say(`  - {from: ${from}, to: ${to}}`);
}

/** Programs check `version` first. */
export function documentOf(version: string, results: readonly Result[], rules: readonly ImageRule[]) {
  return {
    version,
    results: results.map(({ kind, from, to, digest, outcome }) => ({
      ...{ kind, from, to, digest: digest ?? null, state: outcome.state },
      ...(outcome.state === 'failed' ? { why: outcome.why } : {}),
    })),
    rules,
  };
}
