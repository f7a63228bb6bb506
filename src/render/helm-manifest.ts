import type { KubeObject } from '../api/index.ts';
import { byInstallOrder } from '../release/install-order.ts';
import { yamlText } from './yaml.ts';

/** An object and the template that it came from, such as `web/templates/service.yaml`. */
export interface Sourced {
  object: KubeObject;
  path: string;
}

/** The manifest of a release, in Helm's order and with its marks. */
export function manifestOf(objects: readonly Sourced[]): string {
  return [...objects]
    .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    .sort((a, b) => byInstallOrder(a.object.kind, b.object.kind))
    .map(({ object, path }) => `---\n# Source: ${path}\n${yamlText(object)}`)
    .join('');
}
