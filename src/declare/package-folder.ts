import { API_VERSION, type JsonObject } from '../api/index.ts';
import type { Part } from './drafts.ts';
import type { ParsedDeclaration } from './parse.ts';

/** The Plugin that a folder with an `expansion.yaml` stands for. What that file says is looked at where the package is read. */
export function compilePackage(folder: string, file: string, document: ParsedDeclaration | undefined): Part {
  const name = document?.value.expansion_name;
  const value: JsonObject = {
    apiVersion: API_VERSION,
    kind: 'Plugin',
    metadata: { name: typeof name === 'string' ? name : folder.slice(folder.lastIndexOf('/') + 1) },
    spec: { kind: 'expansion', source: { git: { path: folder } } },
  };
  const { line, column } = document ?? { line: 1, column: 1 };
  const locate: Part['locate'] = (pointer) =>
    document?.locate(pointer.startsWith('/metadata') ? '/expansion_name' : '') ?? { line: 1, column: 1, exact: true };
  return { file, line, column, value, faults: [], locate };
}
