import { EspalierError, type Plugin } from '../api/index.ts';
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
  { values }: KnownInputs,
): void {
  const { schema } = spec;
  if (schema === undefined) return;
  const wrong = [...schemaViolations(schema), ...valueViolations(schema, values, { shared })];
  if (wrong.length === 0) return;
  const cure = `set it in spec.values of Plugin ${metadata.name}, or under parameters in its addon.yaml`;
  throw new EspalierError('ValuesRefused', `${wrong.map(({ message }) => message).join('; ')}: ${cure}`, {
    retry: false,
  });
}
