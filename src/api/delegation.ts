import type { Condition } from './kinds/status-parts.ts';
import { ANNOTATION, LABEL } from './names.ts';
import type { KubeObject, ObjectRef } from './objects.ts';
import { safeName } from './safe-name.ts';

/** What an expansion leaves to its operator: conditions that the operator makes true, and where it says so. */
export interface Delegation {
  /** Name of the Plugin that the expansion is. */
  expansion: string;
  /** The record: a ConfigMap of the operator's namespace. */
  record: ObjectRef;
  conditions: string[];
  /** The custom object whose `status.conditions` tell; undefined: the record's own `data` does. */
  on?: ObjectRef;
}

/** What is said of a condition. */
export type Reported = Pick<Condition, 'status'> & Partial<Condition>;

const STATUSES = ['True', 'False', 'Unknown'] as const;

/** Name of the record of one version of a package: another version has another one, so its operator affirms everything anew. */
export function delegationName(expansion: string, version: string): string {
  return safeName(`${expansion}-delegated-${version}`);
}

/** The record as it is applied: without `data`, which is the operator's to write. */
export function delegationRecord({ expansion, record, conditions, on }: Delegation): KubeObject {
  const { apiVersion, kind, namespace = '', name } = on ?? { apiVersion: '', kind: '', name: '' };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: record.name,
      ...(record.namespace === undefined ? {} : { namespace: record.namespace }),
      labels: { [LABEL.expansion]: expansion },
      annotations: {
        [ANNOTATION.delegated]: conditions.join(','),
        [ANNOTATION.conditionsOn]: on === undefined ? '' : [apiVersion, kind, namespace, name].join('|'),
      },
    },
  };
}

/** Undefined for a ConfigMap that is no such record. */
export function readDelegation({ metadata }: KubeObject): Delegation | undefined {
  const expansion = metadata.labels?.[LABEL.expansion];
  const delegated = metadata.annotations?.[ANNOTATION.delegated];
  if (expansion === undefined || delegated === undefined) return undefined;
  const { name, namespace } = metadata;
  const conditions = delegated.split(',').flatMap((one) => one.trim() || []);
  const on = objectIn(metadata.annotations?.[ANNOTATION.conditionsOn] ?? '');
  return {
    expansion,
    record: { apiVersion: 'v1', kind: 'ConfigMap', name, ...(namespace === undefined ? {} : { namespace }) },
    conditions: [...new Set(conditions)],
    ...(on === undefined ? {} : { on }),
  };
}

function objectIn(text: string): ObjectRef | undefined {
  const [apiVersion = '', kind = '', namespace = '', name = ''] = text.split('|');
  if (apiVersion === '' || kind === '' || name === '') return undefined;
  return { apiVersion, kind, name, ...(namespace === '' ? {} : { namespace }) };
}

/**
 * What an object says of one of its conditions. A ConfigMap has them in `data`, as `True`, `False` or JSON with status,
 * reason and message; anything else has them in `status.conditions`.
 */
export function reportedOn(object: KubeObject, type: string): Reported | undefined {
  if (object.apiVersion === 'v1' && object.kind === 'ConfigMap') {
    const text = fieldsOf(object.data)[type];
    return typeof text === 'string' ? reportIn(text.trim()) : undefined;
  }
  const { conditions } = fieldsOf(object.status);
  const found = Array.isArray(conditions) ? conditions.find((one: unknown) => fieldsOf(one).type === type) : undefined;
  return found === undefined ? undefined : asReported(fieldsOf(found));
}

/** As an operator writes it into a ConfigMap. */
export function reportText({ status, reason, message, lastTransitionTime }: Reported): string {
  return JSON.stringify({ status, reason, message, lastTransitionTime });
}

function reportIn(text: string): Reported {
  if (!text.startsWith('{')) return asReported({ status: text });
  try {
    return asReported(fieldsOf(JSON.parse(text)));
  } catch {
    return { status: 'Unknown', message: 'what stands there is neither True nor False nor JSON' };
  }
}

function asReported({ status, reason, message, lastTransitionTime }: Record<string, unknown>): Reported {
  const known =
    typeof status === 'string' ? STATUSES.find((one) => one.toLowerCase() === status.toLowerCase()) : undefined;
  return {
    status: known ?? 'Unknown',
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof lastTransitionTime === 'string' ? { lastTransitionTime } : {}),
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
