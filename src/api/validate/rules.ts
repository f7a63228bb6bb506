import type { Rule, Schema } from '../schema.ts';
import { textRule } from '../strict.ts';
import { CHECKS, isFields } from './checks.ts';
import { child, describeFound, dotted } from './describe.ts';
import type { Violation } from './violation.ts';

/** What the rules of a schema say about a value and all below it. Values of the wrong type are passed over. */
export function checkRules(schema: Schema, value: unknown, path: string): Violation[] {
  const violations = ownRules(schema, value, path);
  if (Array.isArray(value)) {
    if (schema['x-kubernetes-list-type'] === 'set') violations.push(...duplicates(value, path));
    const { items } = schema;
    if (items !== undefined) {
      violations.push(...value.flatMap((item, index) => checkRules(items, item, child(path, index))));
    }
  } else if (isFields(value)) {
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      if (Object.hasOwn(value, name)) violations.push(...checkRules(field, value[name], child(path, name)));
    }
  }
  return violations;
}

function ownRules(schema: Schema, value: unknown, path: string): Violation[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (typeof value === 'string' && schema.type === 'string') {
    if (!hasGoodLength(schema, value)) return [];
    const broken = brokenTextRule(schema, value);
    return broken === undefined ? [] : [textViolation(broken, value, path)];
  }
  if (!isFields(value) || schema.type !== 'object') return [];
  return rules
    .filter((rule) => CHECKS.get(rule.rule)?.(value) === false)
    .map((rule) => fieldsViolation(rule, value, path));
}

/** Lengths count characters, of which JavaScript may use two units each. Text of a wrong length is refused elsewhere. */
function hasGoodLength({ minLength = 0, maxLength = Number.POSITIVE_INFINITY }: Schema, value: string): boolean {
  return value.length >= minLength && value.length <= 2 * maxLength;
}

/** The first rule about syntax that a text breaks. */
export function brokenTextRule(schema: Schema, value: string): Rule | undefined {
  return schema['x-kubernetes-validations']?.find((rule) => !textHolds(rule, value));
}

/** Compiled once: rules are constants, and a repository is checked a thousand times over. */
const COMPILED = new WeakMap<Rule, { pattern: RegExp; negated: boolean } | 'other'>();

function textHolds(rule: Rule, value: string): boolean {
  let compiled = COMPILED.get(rule);
  if (compiled === undefined) {
    const text = textRule(rule);
    compiled = text === undefined ? 'other' : { pattern: new RegExp(text.pattern), negated: text.negated };
    COMPILED.set(rule, compiled);
  }
  return compiled === 'other' || compiled.pattern.test(value) !== compiled.negated;
}

function textViolation(rule: Rule, value: string, path: string): Violation {
  const expected = rule.message.replace(/^must be /, '');
  return { path, message: `${dotted(path)} ${rule.message}, found ${describeFound(value)}`, expected };
}

/** The place is where the rule points to, as far as that exists. */
function fieldsViolation(rule: Rule, value: object, path: string): Violation {
  let place = path;
  let inner: unknown = value;
  for (const step of (rule.fieldPath ?? '').split('.').filter((part) => part !== '')) {
    if (!isFields(inner) || !Object.hasOwn(inner, step)) break;
    place = child(place, step);
    inner = inner[step];
  }
  const subject = rule.message.startsWith('must ')
    ? `${dotted(path)} ${rule.message}`
    : `${dotted(path)}: ${rule.message}`;
  return { path: place, message: subject, expected: rule.message.replace(/^must (be|have|name) /, '') };
}

function duplicates(list: unknown[], path: string): Violation[] {
  const expected = 'each value once';
  return list.flatMap((item, index) => {
    if (list.indexOf(item) === index) return [];
    const place = child(path, index);
    return [{ path: place, message: `${dotted(place)} says ${describeFound(item)} a second time`, expected }];
  });
}
