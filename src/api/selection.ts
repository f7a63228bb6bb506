/** Every object of a kind, or those with some labels: what `all: true` in `dependsOn` means. */
export interface Selection {
  apiVersion: string;
  kind: string;
  namespace?: string;
  labels?: Readonly<Record<string, string>>;
}

/** For people: `all Nodes`, `all Pods of web with app=shop`. */
export function describeSelection({ kind, namespace, labels = {} }: Omit<Selection, 'apiVersion'>): string {
  const place = namespace === undefined ? '' : ` of ${namespace}`;
  const selector = labelSelector(labels);
  return `all ${plural(kind)}${place}${selector === '' ? '' : ` with ${selector}`}`;
}

/** As the API server takes it, the same for the same labels in any order. */
export function labelSelector(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',');
}

function plural(kind: string): string {
  if (/(ss|x|ch|sh)$/.test(kind)) return `${kind}es`;
  if (/[^aeiou]y$/.test(kind)) return `${kind.slice(0, -1)}ies`;
  return kind.endsWith('s') ? kind : `${kind}s`;
}
