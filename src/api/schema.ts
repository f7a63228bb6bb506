import type { FromSchema } from 'json-schema-to-ts';
import type { JsonObject } from './objects.ts';

/** One cross-field or syntax rule. `rule` is CEL as the API server runs it; `message` says what is right, for people. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  /** Where the fault is, relative to the value that holds the rule: `.name`. */
  readonly fieldPath?: string;
}

/**
 * The part of JSON Schema that Kubernetes calls structural, as our kinds use it. Objects never say
 * `additionalProperties: false`: unknown fields are refused all the same, by the API server (strict field
 * validation) and by `validateObject`.
 */
export interface Schema {
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly format?: 'date-time';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly Rule[];
}

/** Free-form objects (values, patches, parameters) are JSON, not `unknown`. */
type FreeForm = { pattern: { 'x-kubernetes-preserve-unknown-fields': true }; output: JsonObject };

/** Objects with named fields have no others: what structural schemas leave unsaid. */
type Close<S> = S extends { readonly properties: infer P }
  ? { type: 'object'; properties: { [K in keyof P]: Close<P[K]> }; additionalProperties: false } & Pick<
      S,
      keyof S & ('required' | 'default')
    >
  : S extends { readonly items: infer I }
    ? { type: 'array'; items: Close<I> } & Pick<S, keyof S & 'default'>
    : S;

/** The type of a value whose defaults are filled in, as the API server returns it. */
export type Complete<S extends Schema> = FromSchema<Close<S> & { type: 'object' }, { deserialize: [FreeForm] }>;

/** The type of a value as people write it: what has a default may be left out. */
export type Written<S extends Schema> = FromSchema<
  Close<S> & { type: 'object' },
  { deserialize: [FreeForm]; keepDefaultedPropertiesOptional: true }
>;
