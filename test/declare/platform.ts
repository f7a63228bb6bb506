import type { Declarations } from '../../src/declare/declarations.ts';
import { originText } from '../../src/declare/origin.ts';
import { type ReadOptions, readDeclarations } from '../../src/declare/reader.ts';
import type { Previous } from '../../src/declare/survivors.ts';
import { textTree } from './text-tree.ts';

export type Texts = Record<string, string | Uint8Array>;

/** A Plugin of manifests in `apps/<name>`, with more of its spec in flow style: `timeout: 5m`. */
export function plugin(name: string, more = ''): string {
  const rest = more === '' ? '' : `\n  ${more}`;
  return `apiVersion: espalier.dev/v1alpha1
kind: Plugin
metadata:
  name: ${name}
spec:
  kind: manifests
  source:
    git: {path: apps/${name}}${rest}
`;
}

/** A repository of plugins with what they point at: `plugins/<name>.yaml` and `apps/<name>/`. */
export function platform(...names: string[]): Texts {
  const files: Texts = {};
  for (const name of names) {
    files[`plugins/${name}.yaml`] = plugin(name);
    files[`apps/${name}/config.yaml`] = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
  }
  return files;
}

export const PROD = { path: '.', cluster: { name: 'prod', labels: { tier: 'prod' } }, namespace: 'espalier-system' };

export function read(files: Texts, options: Partial<ReadOptions> = {}): Promise<Declarations> {
  return readDeclarations(textTree(files), { ...PROD, ...options });
}

export function namesOf(declarations: Declarations): string[] {
  return declarations.objects.map(({ object }) => object.metadata.name).sort();
}

/** What a Sync remembers of an earlier commit: keys, and the annotation of where each came from. */
export function remember(declarations: Declarations): Previous[] {
  return declarations.objects.map((declared) => ({ key: declared.key, origin: originText(declared) }));
}

/** The names of objects by their keys. */
export function shortNames(keys: readonly { key: string }[]): string[] {
  return keys.map(({ key }) => key.slice(key.lastIndexOf('/') + 1)).sort();
}
