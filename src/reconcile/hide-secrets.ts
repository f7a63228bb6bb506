import { EspalierError, isError, type Json, type JsonObject, messageOf } from '../api/index.ts';
import { LONGEST_QUOTE } from '../api/validate/describe.ts';
import { secretForms } from '../plan/secret-forms.ts';
import type { PluginVerdict } from './plugin.ts';

/** Shorter texts and numbers turn up by chance everywhere. */
const SHORTEST_LEAF = 4;
const SHORTEST_FORM = 3;

/** Every text in values that came from a Secret: a template may put each of them anywhere by itself. */
export function textsIn(values: JsonObject): string[] {
  return leavesOf(values).filter((text) => text.length >= SHORTEST_LEAF);
}

function leavesOf(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  return value === null || typeof value !== 'object' ? [] : Object.values(value).flatMap(leavesOf);
}

/** What is said about a Plugin without what came from Secrets: the API server and Helm quote what they refuse. */
export function hideSecrets(verdict: PluginVerdict, secrets: readonly string[]): PluginVerdict {
  const { outcome, error } = verdict;
  if (secrets.length === 0 || outcome?.phase === 'Ready') return verdict;
  const forms = formsOf(secrets);
  return {
    ...verdict,
    outcome:
      outcome !== undefined && 'message' in outcome ? { ...outcome, message: hidden(outcome.message, forms) } : outcome,
    ...(error === undefined ? {} : { error: withoutSecrets(error, secrets) }),
  };
}

/** The same error with another message, and without its cause, which may say more. */
export function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  const message = hidden(messageOf(error), formsOf(secrets));
  if (message === messageOf(error)) return error;
  const [code, retry] = isError(error) ? [error.code, error.retry] : (['Internal', true] as const);
  return new EspalierError(code, message, { retry });
}

/** A text of somebody else's, such as a log. The line break that ends a value in a file is no part of it there. */
export function withoutTexts(text: string, secrets: readonly string[]): string {
  const forms = formsOf(secrets).map((form) => form.trim());
  return hidden(
    text,
    forms.filter((form) => form.length >= SHORTEST_FORM),
  );
}

/** Of a long one our own messages quote the beginning. */
function formsOf(secrets: readonly string[]): string[] {
  const beginnings = secrets.flatMap((text) => (text.length > LONGEST_QUOTE ? [text.slice(0, LONGEST_QUOTE)] : []));
  return secretForms([...secrets, ...beginnings], SHORTEST_FORM);
}

function hidden(text: string, forms: readonly string[]): string {
  return forms.reduce((rest, form) => rest.replaceAll(form, '[redacted]'), text);
}
