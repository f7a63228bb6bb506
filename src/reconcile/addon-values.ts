import { EspalierError, type Json, type JsonObject, type Plugin } from '../api/index.ts';
import { dotted } from '../api/validate/describe.ts';
import type { Violation } from '../api/validate/violation.ts';
import { schemaViolations, valueViolations } from '../resolve/template-values.ts';
import type { Facts } from './facts.ts';
import type { KnownInputs } from './inputs.ts';

/**
 * Refuses values that the schema of an add-on does not allow, wherever they come from. What files say was found before,
 * with its place: what is left is missing altogether, or is given by the Sync, a ConfigMap or a Secret.
 */
export function demandAddonValues(
  { metadata, spec }: Plugin,
  { values: shared }: Facts,
  { values, secrets }: KnownInputs,
): void {
  const { schema, valuesFrom = [] } = spec;
  if (schema === undefined) return;
  const wrong = [...schemaViolations(schema), ...valueViolations(schema, values, { shared })];
  if (wrong.length === 0) return;
  const hidden = new Set(secrets);
  const told = wrong.map((one) => (hidden.has(String(valueAt(values, one.path))) ? withoutValue(one) : one.message));
  const objects = valuesFrom.map(({ kind, name }) => `${kind} ${name}`);
  const places = [`spec.values of Plugin ${metadata.name}`, ...objects, 'parameters in its addon.yaml'];
  const cure = `set it in ${places.slice(0, -1).join(', ')}, or under ${places.at(-1)}`;
  throw new EspalierError('ValuesRefused', `${told.join('; ')}: ${cure}`, { retry: false });
}

/** Messages quote what they refuse, and of a long text the beginning: nothing would find that again and hide it. */
function withoutValue({ path, expected }: Violation): string {
  return `parameter ${dotted(path)}, which a Secret gives, is not as expected: ${expected}`;
}

function valueAt(values: JsonObject, pointer: string): Json | undefined {
  const steps = pointer.split('/').slice(1);
  return steps.reduce<Json | undefined>((found, step) => {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof found !== 'object' || found === null) return undefined;
    return Object.hasOwn(found, name) ? (found as JsonObject)[name] : undefined;
  }, values);
}
