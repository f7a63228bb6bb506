import type { Cluster } from './cluster.ts';
import { whatThereIs } from './find.ts';
import type { ScopeOptions } from './options.ts';
import type { TargetKind } from './target.ts';

const NEXT_STEP: Record<TargetKind, string> = {
  Sync: 'A Sync names the repository to follow: section 3 of docs/install.md shows one',
  Plugin: 'A Sync writes them from Git: "espalier get syncs -A" shows whether there is one',
};

/** What to tell a person whose list came out empty: where there are some, or how to come by one. */
export async function noneFound(
  { client, namespace }: Cluster,
  kinds: readonly TargetKind[],
  options: ScopeOptions & { selector?: string },
): Promise<string> {
  const what = kinds.map((kind) => `${kind}s`).join(' or ');
  const where = options.allNamespaces ? 'in any namespace' : `in namespace "${namespace}"`;
  const with_ = options.selector === undefined ? '' : ` with -l ${options.selector}`;
  const none = `No ${what}${with_} ${where}`;
  const elsewhere = options.allNamespaces ? [] : await whatThereIs(client, kinds, namespace, options.selector);
  const [first, ...others] = [...new Set(elsewhere.map(({ metadata }) => metadata.namespace))];
  if (first !== undefined) {
    const places = others.length === 0 ? first : `${others.length + 1} other namespaces`;
    return `${none}; there are ${elsewhere.length} in ${places}: add ${others.length === 0 ? `-n ${first}, or ` : ''}-A.`;
  }
  if (options.selector !== undefined) return `${none}. Leave out -l to see all.`;
  return `${none}. ${NEXT_STEP[kinds[0] ?? 'Sync']}.`;
}
