import { describeRef, groupOf, type KubeObject, type ObjectRef, type Plugin, refKey } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import type { OwnedIndex } from '../converge/owned.ts';
import { groupKind, type KindRef } from '../converge/watches.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Declared } from './declared.ts';

/** How long the API server may hold objects to the old schema after it has taken the new one: it says nowhere when it ceases to. */
const SETTLING_MS = 10_000;

export interface DefinitionsOptions {
  clock: Clock;
  client: Pick<KubeClient, 'resource'>;
  owned: Pick<OwnedIndex, 'get'>;
  declared: Pick<Declared, 'isAtRest'>;
  plugin(key: string): Plugin | undefined;
  /** The schema of a kind has changed: what it refused before may fit now. */
  onChange(kind: KindRef): void;
}

/** CustomResourceDefinitions that change: what their schemas refuse meanwhile is not wrong yet. */
export class Definitions {
  readonly #options: DefinitionsOptions;
  /** By group and kind. */
  readonly #settlesAt = new Map<string, number>();

  constructor(options: DefinitionsOptions) {
    this.#options = options;
  }

  /** One was just applied. Where it is new its kind is not served before, so nothing is held to anything old. */
  written(object: KubeObject): void {
    const kind = definedKind(object);
    if (kind === undefined || object.metadata.generation === 1) return;
    this.#settlesAt.set(groupKind(kind), this.#options.clock.now() + SETTLING_MS);
    this.#options.onChange(kind);
  }

  isSettling(ref: KindRef): boolean {
    const key = groupKind(ref);
    const at = this.#settlesAt.get(key);
    if (at !== undefined && at > this.#options.clock.now()) return true;
    this.#settlesAt.delete(key);
    return false;
  }

  /** Another Plugin that brings the definition of the object's kind, and has not applied what it declares now. For people. */
  async whoMayChange(ref: ObjectRef, self: string): Promise<string | undefined> {
    const { client, owned, declared, plugin } = this.#options;
    // Where that can't be told now, what the API server said holds.
    const resource = await client.resource(ref.apiVersion, ref.kind).catch(() => undefined);
    const definition = { ...DEFINITION, name: `${resource?.plural}.${groupOf(ref.apiVersion)}` };
    const key = owned.get(refKey(definition))?.plugin;
    const owner = key === undefined || key === self ? undefined : plugin(key);
    if (owner === undefined || declared.isAtRest(owner)) return undefined;
    return `Plugin ${key}, which brings ${describeRef(definition)}`;
  }
}

const DEFINITION = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };

/** What a CustomResourceDefinition defines; the version says nothing. */
export function definedKind({ kind, spec }: KubeObject): KindRef | undefined {
  const { group, names } = (kind === DEFINITION.kind ? (spec ?? {}) : {}) as Partial<DefinitionSpec>;
  return group === undefined || names?.kind === undefined ? undefined : { apiVersion: `${group}/v1`, kind: names.kind };
}

interface DefinitionSpec {
  group: string;
  names: { kind?: string };
}
