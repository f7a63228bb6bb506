import type { Part } from './drafts.ts';
import { parseFile } from './parse.ts';

/** The declarations of a text, as parts of a file: for tests. */
export function partsOf(file: string, text: string): Part[] {
  return parseFile(new TextEncoder().encode(text)).declarations.map((declaration) => ({ ...declaration, file }));
}

/** One Plugin in flow style: `plugin('web', '{timeout: 5m}')`. */
export function plugin(name: string, spec: string, metadata = ''): string {
  return `apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: ${name}${metadata}}\nspec: ${spec}\n`;
}
