import { API_VERSION, describeRef, type JsonObject, type KubeObject, refOf } from '../../api/index.ts';

/** Something that another tool did and that the new repository does not do. */
export interface Left {
  /** `HelmRelease apps/podinfo` */
  object: string;
  /** Path of the field; empty when it is the object as a whole. */
  field: string;
  why: string;
}

/** A Plugin as it will stand in its file. Whether it is valid, the schema says. */
export interface DraftPlugin extends KubeObject {
  spec: JsonObject;
}

/** What a repository is made of: Plugins, other files by path, and the list of what is missing in them. */
export interface Imported {
  plugins: DraftPlugin[];
  files: Map<string, string | Uint8Array>;
  left: Left[];
  /** Of the Plugins, by `namespace/name`: the object that each stands for. */
  origins: Map<string, string>;
}

/** Notes what can't be carried over. An empty field stands for the object as a whole. */
export type Leave = (field: string, why: string) => void;

/** Collects what becomes of many objects. Of two that would be one Plugin the first is it, and the other is listed. */
export class Import implements Imported {
  readonly plugins: DraftPlugin[] = [];
  readonly files = new Map<string, string | Uint8Array>();
  readonly left: Left[] = [];
  readonly origins = new Map<string, string>();

  leaver(object: string): Leave {
    return (field, why) => void this.left.push({ object, field, why });
  }

  add(origin: string, plugin: DraftPlugin): boolean {
    const key = `${plugin.metadata.namespace}/${plugin.metadata.name}`;
    const first = this.origins.get(key);
    if (first !== undefined) {
      const why = `it would be Plugin ${key}, and so is ${first}; declare one of the two by hand under another name`;
      this.left.push({ object: origin, field: '', why });
      return false;
    }
    this.origins.set(key, origin);
    this.plugins.push(plugin);
    return true;
  }
}

/** A Plugin that takes over what is there. */
export function draftPlugin(namespace: string, name: string, spec: JsonObject): DraftPlugin {
  const whole = Object.fromEntries(Object.entries(spec).filter(([, value]) => !isNothing(value)));
  return {
    apiVersion: API_VERSION,
    kind: 'Plugin',
    metadata: { name, namespace },
    spec: { ...whole, apply: { adopt: true } },
  };
}

function isNothing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

export function titleOf(object: KubeObject): string {
  return describeRef(refOf(object));
}
