import { parseFile } from './parse.ts';

export interface SourceFile {
  file: string;
  bytes: Uint8Array;
}

/**
 * Where a declaration says something, as `file:line:column`: the last of its files (the base, then its overlays) that
 * says it, or else the first that declares it at all. Undefined when none does.
 */
export function locateValue(
  files: readonly SourceFile[],
  kind: string,
  name: string,
  pointer: string,
): string | undefined {
  const places = files.flatMap(({ file, bytes }) =>
    parseFile(bytes)
      .declarations.filter(({ value }) => value.kind === kind && nameOf(value.metadata) === name)
      .map((declaration) => ({ file, ...declaration.locate(pointer) })),
  );
  const found = places.findLast(({ exact }) => exact) ?? places[0];
  return found === undefined ? undefined : `${found.file}:${found.line}:${found.column}`;
}

function nameOf(metadata: unknown): unknown {
  return typeof metadata === 'object' && metadata !== null && 'name' in metadata ? metadata.name : undefined;
}
