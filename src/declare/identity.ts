import { API_VERSION, describeRef, kindDefinition, type ObjectRef, refKey, validateObject } from '../api/index.ts';
import { isKubegems } from '../compat/kubegems-kind.ts';
import type { TextFault } from './fault.ts';
import { valueAt } from './merge.ts';
import type { ParsedDeclaration } from './parse.ts';

const UNKNOWN = { path: '', message: 'it is not told what it declares', expected: 'a kind and a name' };

const TEXT = 'a name, in quotes where YAML takes it for something else (no, 123)';

export interface Identity {
  ref: ObjectRef;
  key: string;
  /** Whether the document itself says the namespace, or is of a kind that has none. */
  exact: boolean;
}

/** Which object of ours a document declares. A document that doesn't say it clearly is a fault, and whose it is stays unknown. */
export function identify(document: ParsedDeclaration, namespace: string): Identity | { fault: TextFault } {
  const { value } = document;
  const faultAt = (path: string, message: string, expected: string): { fault: TextFault } => {
    const { line, column } = document.locate(path);
    return { fault: { line, column, path, message, expected } };
  };
  const kind = valueAt(value, 'kind');
  const isOurs = value.apiVersion === API_VERSION || isKubegems(value);
  if (typeof kind !== 'string' || kindDefinition(kind) === undefined || !isOurs) {
    const [{ path, message, expected } = UNKNOWN] = validateObject(value);
    return faultAt(path, message, expected);
  }
  const name = valueAt(value, 'metadata', 'name');
  if (name === undefined || name === null || name === '') {
    return faultAt('/metadata/name', 'metadata.name is missing, expected a name', 'a name');
  }
  if (typeof name !== 'string') return faultAt('/metadata/name', `metadata.name is not text, expected ${TEXT}`, TEXT);
  const own = valueAt(value, 'metadata', 'namespace');
  if (own !== undefined && own !== null && typeof own !== 'string') {
    return faultAt('/metadata/namespace', `metadata.namespace is not text, expected ${TEXT}`, TEXT);
  }
  return identityOf(kind, name, typeof own === 'string' ? own : undefined, namespace);
}

export function identityOf(kind: string, name: string, own: string | undefined, namespace: string): Identity {
  const base = { apiVersion: API_VERSION, kind, name };
  const namespaced = kindDefinition(kind)?.scope === 'Namespaced';
  const ref = namespaced ? { ...base, namespace: own ?? namespace } : base;
  return { ref, key: refKey(ref), exact: !namespaced || own !== undefined };
}

/** `Plugin espalier-system/cert-manager`: how faults name it. */
export function nameOf(identity: Identity): string {
  return describeRef(identity.ref);
}
