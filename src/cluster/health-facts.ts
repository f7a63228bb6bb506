import type { KubeObject } from '../api/index.ts';
import { isRecord } from './json.ts';

export type HealthState = 'healthy' | 'progressing' | 'failed' | 'terminating' | 'unknown';

export interface Health {
  state: HealthState;
  /** Why, for people. Empty never. */
  message: string;
}

export interface Condition {
  status: string;
  reason: string;
  message: string;
}

/** What health rules look at, read leniently: a missing or odd field is an absent fact, never an exception. */
export interface ObjectFacts {
  generation: number | undefined;
  observedGeneration: number | undefined;
  deleting: string | undefined;
  spec: Fields;
  status: Fields;
  hasStatus: boolean;
  conditions: Map<string, Condition>;
  annotations: Record<string, string>;
}

/** Fields of a JSON object by path, each with the type that the rule expects. */
export interface Fields {
  number(...path: string[]): number | undefined;
  text(...path: string[]): string | undefined;
  flag(...path: string[]): boolean | undefined;
  list(...path: string[]): Record<string, unknown>[];
  has(...path: string[]): boolean;
}

export function facts(object: KubeObject): ObjectFacts {
  const status = fields(object.status);
  return {
    generation: object.metadata.generation,
    observedGeneration: status.number('observedGeneration'),
    deleting: object.metadata.deletionTimestamp,
    spec: fields(object.spec),
    status,
    hasStatus: isRecord(object.status),
    conditions: new Map(
      status.list('conditions').map((condition) => {
        const read = fields(condition);
        return [
          read.text('type') ?? '',
          { status: read.text('status') ?? '', reason: read.text('reason') ?? '', message: read.text('message') ?? '' },
        ];
      }),
    ),
    annotations: object.metadata.annotations ?? {},
  };
}

export function fields(root: unknown): Fields {
  const at = (path: string[]): unknown =>
    path.reduce<unknown>((value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined), root);
  return {
    number(...path) {
      const value = at(path);
      return typeof value === 'number' ? value : undefined;
    },
    text(...path) {
      const value = at(path);
      return typeof value === 'string' ? value : undefined;
    },
    flag(...path) {
      const value = at(path);
      return typeof value === 'boolean' ? value : undefined;
    },
    list(...path) {
      const value = at(path);
      return Array.isArray(value) ? value.filter(isRecord) : [];
    },
    has: (...path) => at(path) !== undefined && at(path) !== null,
  };
}

export function healthy(message: string): Health {
  return { state: 'healthy', message };
}

export function progressing(message: string): Health {
  return { state: 'progressing', message };
}

export function failed(message: string): Health {
  return { state: 'failed', message };
}

/** A condition's own words, or its name when it has none. */
export function because(type: string, condition: Condition): string {
  const { reason, message } = condition;
  if (message !== '') return reason === '' ? message : `${reason}: ${message}`;
  return reason === '' ? type : reason;
}
