/** What a Sync says about namespaces. */
export interface Allowance {
  /** The Sync's own namespace: always among them. */
  namespace: string;
  /** `spec.allowedNamespaces`; absent means all. */
  allowedNamespaces?: readonly string[] | undefined;
}

export interface NamespaceFault {
  /** JSON pointer to the name of the namespace. */
  path: string;
  message: string;
}

/** Whether what a Sync declares may live in, install to or depend on a namespace. */
export function mayUse({ namespace, allowedNamespaces }: Allowance): (name: string) => boolean {
  if (allowedNamespaces === undefined) return () => true;
  const allowed = new Set([namespace, ...allowedNamespaces]);
  return (name) => allowed.has(name);
}

/** The namespaces that a Plugin names and that its Sync may not use. */
export function namespaceFaults(
  plugin: { metadata: { namespace?: string | undefined }; spec: { namespace?: { name: string } | undefined } },
  may: (name: string) => boolean,
): NamespaceFault[] {
  const named: [string, string | undefined][] = [
    ['/metadata/namespace', plugin.metadata.namespace],
    ['/spec/namespace/name', plugin.spec.namespace?.name],
  ];
  return named.flatMap(([path, name]) => {
    if (name === undefined || may(name)) return [];
    return [{ path, message: `the namespace "${name}" is not among spec.allowedNamespaces of the Sync` }];
  });
}
