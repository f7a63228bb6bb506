import { describeRef, EspalierError, isError, messageOf, type ObjectRef, refKey, refOf } from '../api/index.ts';
import type { ApplyOutcome } from '../converge/apply.ts';
import type { OutcomeOf, PluginPlan } from '../plan/object-plan.ts';
import type { PluginVerdict } from './plugin.ts';
import type { Rendered } from './rendered.ts';

/** Why one object is not as declared. */
export interface Problem {
  ref: ObjectRef;
  code: EspalierError['code'];
  message: string;
  /** Time may heal it. */
  retry: boolean;
  /** Nothing else can be written now either. */
  fatal?: boolean;
}

/** What the plan says before anything is sent. */
export function problemsOf(plan: PluginPlan): Problem[] {
  return plan.objects.flatMap((object): Problem[] => {
    const { ref } = object;
    if (object.action === 'conflict')
      return [{ ref, code: 'OwnershipConflict', message: conflictMessage(ref, object), retry: true }];
    if (object.action === 'refused')
      return [{ ref, code: 'KubeInvalid', message: `${describeRef(ref)}: ${object.message}`, retry: false }];
    return [];
  });
}

function conflictMessage(ref: ObjectRef, { with: holder, why }: OutcomeOf<'conflict'>): string {
  return `${describeRef(ref)}: conflict with ${holder}: ${why}`;
}

/** What could not even be sent, because nobody serves its kind yet. */
export function unservedOf({ objects, undecided }: Rendered): Problem[] {
  return objects.flatMap((object): Problem[] => {
    const ref = refOf(object);
    if (!undecided.has(refKey(ref))) return [];
    const message = `${describeRef(ref)}: the API server does not serve ${ref.kind} of ${ref.apiVersion}; its CustomResourceDefinition is not there yet`;
    return [{ ref, code: 'KubeKindUnknown', message, retry: true }];
  });
}

/** What the API server answered. Throws what is no answer about the object at all. */
export function problemFrom(ref: ObjectRef, result: Exclude<ApplyOutcome, { outcome: 'written' | 'exists' }>): Problem {
  if (result.outcome === 'conflict') {
    const fields = result.conflicts.map((one) => `${one.field} (held by ${one.manager})`).join(', ');
    const message = `${describeRef(ref)}: other managers hold ${fields}; let go there, or set spec.apply.force`;
    return { ref, code: 'KubeApplyConflict', message, retry: true };
  }
  const { error } = result;
  if (isError(error, 'LeaseLost', 'Aborted')) throw error;
  if (!isError(error))
    return { ref, code: 'ApplyFailed', message: `${describeRef(ref)}: ${messageOf(error)}`, retry: true };
  const { code, retry } = error;
  const message = immutableMessage(ref, error) ?? `${error.message}${namespaceHint(error)}`;
  return { ref, code, message, retry, fatal: code === 'KubeUnreachable' };
}

function namespaceHint({ code, message }: EspalierError): string {
  return code === 'KubeNotFound' && /namespaces "[^"]+" not found/.test(message)
    ? '. Create it, or set spec.namespace.create: true'
    : '';
}

const IMMUTABLE = /: field is immutable$|^Forbidden: updates to .* are forbidden$/s;

/** Says which fields, where the API server would print all that they hold. Only a person may decide to start anew. */
function immutableMessage(ref: ObjectRef, { data, code }: EspalierError): string | undefined {
  const causes = code === 'KubeInvalid' && Array.isArray(data.causes) ? (data.causes as ServerCause[]) : [];
  const fields = causes.filter(({ message = '' }) => IMMUTABLE.test(message)).map(({ field }) => field);
  if (fields.length === 0 || fields.length < causes.length) return undefined;
  const what = `${describeRef(ref)}: ${fields.join(', ')} can't be changed: field is immutable`;
  return `${what}. Delete the object, and it is created again as declared; or declare it under another name`;
}

/** One entry of `details.causes` in the API server's answer. */
interface ServerCause {
  field: string;
  message?: string;
}

export function failedWith(problems: readonly Problem[], findings: PluginVerdict['findings']): PluginVerdict {
  const [first] = problems;
  if (first === undefined) throw new EspalierError('Internal', 'a failure without a problem');
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : '';
  const userMustAct = problems.every((problem) => !problem.retry);
  const message = `${first.message}${more}`;
  return {
    outcome: { phase: 'Failed', reason: first.code, message, userMustAct, applied: false },
    findings,
    error: new EspalierError(first.code, message, { retry: !userMustAct }),
  };
}
