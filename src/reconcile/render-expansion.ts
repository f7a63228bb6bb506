import { EspalierError, type Json, type JsonObject, type KubeObject, LABEL } from '../api/index.ts';
import { expandPackage } from '../expansion/expand.ts';
import { expandStep } from '../expansion/expand-step.ts';
import { faultsHere } from '../expansion/faults-here.ts';
import { isLeftOut } from '../expansion/left-out.ts';
import { versionOf } from '../expansion/parts.ts';
import { type ReadPackage, readPackage } from '../expansion/read-package.ts';
import { REAL_TOOLS } from '../render/render.ts';
import { renderTexts } from '../render/text-templates.ts';
import { mergeValues } from '../resolve/values.ts';
import type { ExpansionSource } from './expansion-source.ts';
import type { Facts } from './facts.ts';
import { type FinishInput, finishFor, toRendered } from './finish-rendered.ts';
import type { KnownInputs } from './inputs.ts';
import type { Rendered } from './rendered.ts';
import { keyOf } from './store.ts';

export interface RenderExpansionInput extends FinishInput {
  inputs: KnownInputs;
  source: ExpansionSource;
  timeoutMs: number;
  signal?: AbortSignal;
}

const SCRIPT_BYTES = 1024 * 1024;
const FAULTS_TOLD = 10;

/** An expansion package, or the step of one, as the objects that it stands for. */
export async function renderExpansion(input: RenderExpansionInput): Promise<Rendered> {
  const { plugin, facts, inputs, source } = input;
  const found = await readPackage(source.files);
  refuseFaults(found, facts);
  const version = { chart: found.expansion.expansion_name ?? plugin.metadata.name, version: versionOf(found) };
  const whyNot = plugin.spec.step === undefined ? whyLeftOut(found, facts) : undefined;
  if (whyNot !== undefined) {
    const nothing = { objects: [], ensure: new Set<string>(), undecided: [], warnings: [whyNot] };
    return { ...toRendered(input, nothing, []), version, whyEmpty: whyNot };
  }
  const values = mergeValues(found.expansion.values, inputs.values);
  const objects = await objectsOf(input, found, values);
  return { ...toRendered(input, await finishFor(input, objects), []), version };
}

async function objectsOf(
  { plugin, inputs, source, timeoutMs, signal }: RenderExpansionInput,
  found: ReadPackage,
  values: JsonObject,
): Promise<KubeObject[]> {
  const { step } = plugin.spec;
  const hasSecrets = inputs.secrets.length > 0;
  const common = { plugin, package: found, values, hasSecrets };
  if (step === undefined) return expandPackage({ ...common, sources: source.sources });
  const hook = step === 'operator' ? undefined : found.hooks.get(step);
  if (hook?.isTemplate !== true) return expandStep({ ...common, step, script: hook?.script, hasSecrets: false });
  const limits = { timeoutMs, outputBytes: 2 * SCRIPT_BYTES, ...(signal === undefined ? {} : { signal }) };
  const texts = await renderTexts({ files: new Map([[hook.path, hook.script]]), values, ...limits }, REAL_TOOLS);
  return expandStep({ ...common, step, script: texts.get(hook.path) });
}

function refuseFaults(found: ReadPackage, facts: Facts): void {
  const faults = faultsHere(found, {
    delegateConditions: facts.delegateConditions,
    sync: facts.sync === undefined ? undefined : keyOf(facts.sync),
    labels: facts.labels,
  });
  if (faults.length === 0) return;
  const told = faults
    .slice(0, FAULTS_TOLD)
    .map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
  const more = faults.length > told.length ? [`and ${faults.length - told.length} more`] : [];
  const message = `the package is wrong: ${[...told, ...more].join('; ')}`;
  throw new EspalierError('ExpansionInvalid', message, { retry: false, data: { faults: faults as unknown as Json } });
}

/** Why nothing of a package belongs on this cluster. */
function whyLeftOut({ expansion }: ReadPackage, { labels, sync }: Facts): string | undefined {
  if (!isLeftOut(expansion, labels)) return undefined;
  const where = sync === undefined ? 'the Sync' : `Sync ${keyOf(sync)}`;
  return `nothing is installed here: disable_pass_through_to_platform keeps the package on the management cluster, and spec.cluster.labels of ${where} does not say ${LABEL.role}: management`;
}
