import { DNS_LABEL, DNS_SUBDOMAIN } from '../patterns.ts';
import { isFields } from './checks.ts';
import { child, describeFound, dotted } from './describe.ts';
import type { Violation } from './violation.ts';

const LABEL_TEXT = '[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?';
const NAME = new RegExp(`^${DNS_SUBDOMAIN}$`);
const NAMESPACE = new RegExp(`^${DNS_LABEL}$`);
const LABEL_VALUE = new RegExp(`^(${LABEL_TEXT})?$`);
const KEY_NAME = new RegExp(`^${LABEL_TEXT}$`);

const NAME_EXPECTED = 'a name of lower-case letters, digits, "-" and ".", beginning and ending with a letter or digit';
const LABEL_EXPECTED = 'at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit';
const KEY_EXPECTED = 'a key such as app or example.com/app';

/** What the API server says about names, labels and annotations, before it is asked. */
export function checkMetadata(metadata: unknown): Violation[] {
  if (!isFields(metadata)) return [];
  const { name, namespace, labels, annotations } = metadata;
  const violations: Violation[] = [];
  if (isText(name, 63) && !NAME.test(name)) violations.push(wrong('/metadata/name', name, NAME_EXPECTED));
  if (isText(namespace, 63) && !NAMESPACE.test(namespace)) {
    violations.push(wrong('/metadata/namespace', namespace, NAME_EXPECTED.replace(', "-" and "."', ' and "-"')));
  }
  for (const [key, value] of entries(labels)) {
    violations.push(...checkKey('/metadata/labels', key));
    if (typeof value !== 'string') continue;
    const fits = value.length <= 63 && LABEL_VALUE.test(value);
    if (!fits) violations.push(wrong(child('/metadata/labels', key), value, LABEL_EXPECTED));
  }
  for (const [key] of entries(annotations)) violations.push(...checkKey('/metadata/annotations', key));
  return violations;
}

function isText(value: unknown, maximum: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= maximum;
}

function entries(value: unknown): [string, unknown][] {
  return isFields(value) ? Object.entries(value) : [];
}

function checkKey(path: string, key: string): Violation[] {
  const slash = key.indexOf('/');
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  const nameFits = name.length <= 63 && KEY_NAME.test(name);
  const prefixFits = prefix === undefined || (prefix.length <= 253 && NAME.test(prefix));
  if (nameFits && prefixFits) return [];
  const message = `${dotted(path)} has the key ${describeFound(key)}, expected ${KEY_EXPECTED}`;
  return [{ path: child(path, key), message, expected: KEY_EXPECTED }];
}

function wrong(path: string, found: string, expected: string): Violation {
  return { path, message: `${dotted(path)} is ${describeFound(found)}, expected ${expected}`, expected };
}
