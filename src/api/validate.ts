import { withDefaults } from './defaults.ts';
import { KINDS, type KindDefinition, kindDefinition } from './kinds.ts';
import { API_VERSION, GROUP } from './names.ts';
import { isFields } from './validate/checks.ts';
import { describeFound, oneOf } from './validate/describe.ts';
import { checkHarmless } from './validate/harmless.ts';
import { checkMetadata } from './validate/metadata.ts';
import { checkRules } from './validate/rules.ts';
import { checkShape } from './validate/shape.ts';
import { suggest } from './validate/suggest.ts';
import type { Violation } from './validate/violation.ts';

export type { Violation } from './validate/violation.ts';

/**
 * Everything that is wrong with a declaration of one of our kinds, all at once; nothing when the API server would accept
 * it. Stricter than the server in two ways: keys named `__proto__` and absurd nesting are refused.
 */
export function validateObject(object: unknown): Violation[] {
  if (!isFields(object)) {
    const expected = 'a mapping with apiVersion, kind, metadata and spec';
    return [{ path: '', message: `the document is ${describeFound(object)}, expected ${expected}`, expected }];
  }
  const definition = typeof object.kind === 'string' ? kindDefinition(object.kind) : undefined;
  if (definition === undefined || object.apiVersion !== API_VERSION) return wrongKind(object);
  return validateAs(definition, object);
}

/** The same by the definition of a kind that need not be ours, for an object that is known to be of that kind. */
export function validateAs(definition: KindDefinition, object: { readonly [field: string]: unknown }): Violation[] {
  const complete = { ...object, spec: withDefaults(definition.spec, object.spec) };
  return [
    ...checkHarmless(object),
    ...checkShape(definition, complete),
    ...checkMetadata(object.metadata),
    ...checkRules(definition.spec, complete.spec, '/spec'),
  ];
}

function wrongKind({ apiVersion, kind }: { readonly [field: string]: unknown }): Violation[] {
  const violations: Violation[] = [];
  if (apiVersion !== API_VERSION) {
    const ours = typeof apiVersion === 'string' && apiVersion.startsWith(`${GROUP}/`);
    const hint = ours ? ' (this is the only version there is)' : '';
    const message = `apiVersion is ${describeFound(apiVersion)}, expected ${API_VERSION}${hint}`;
    violations.push({ path: apiVersion === undefined ? '' : '/apiVersion', message, expected: API_VERSION });
  }
  const kinds = KINDS.map((definition) => definition.kind);
  if (!kinds.some((known) => known === kind)) {
    const expected = oneOf(kinds);
    const meant = typeof kind === 'string' ? suggest(kind, kinds) : undefined;
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    const message = `kind is ${describeFound(kind)}, expected ${expected}${hint}`;
    violations.push({ path: kind === undefined ? '' : '/kind', message, expected });
  }
  return violations;
}
