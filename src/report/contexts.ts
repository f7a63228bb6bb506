/** What a status is about. The aggregate of a cluster has no suffix: it is what branch protection asks for. */
export interface Contexts {
  all: string;
  drift: string;
  plan: string;
  plugin(key: string): string;
}

/** The names under which one Sync speaks on a commit. */
export function contextsOf(name: string, namespace: string): Contexts {
  const all = `espalier/${name}`;
  return {
    all,
    drift: `${all}/drift`,
    plan: `${all}/plan`,
    // Below a word of their own: a Plugin may be called drift.
    plugin: (key) => `${all}/plugin/${key.startsWith(`${namespace}/`) ? key.slice(namespace.length + 1) : key}`,
  };
}
