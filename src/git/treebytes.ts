export interface NamedEntry {
  name: string;
  mode: string;
  oid: string;
}

/**
 * The bytes of a folder as Git writes it, in Git's order: by bytes of the name, a folder as if its name ended with a slash.
 * `latin1` is for names that were read as a character for each byte, so that one which is not UTF-8 comes out as it went in.
 */
export function treeBytes(entries: readonly NamedEntry[], names: 'utf8' | 'latin1'): Buffer {
  const sorted = [...entries].sort((a, b) => Buffer.compare(keyOf(a, names), keyOf(b, names)));
  return Buffer.concat(
    sorted.flatMap(({ name, mode, oid }) => [
      Buffer.from(`${mode.replace(/^0+/, '')} ${name}\0`, names),
      Buffer.from(oid, 'hex'),
    ]),
  );
}

function keyOf({ name, mode }: NamedEntry, names: 'utf8' | 'latin1'): Buffer {
  return Buffer.from(mode.startsWith('04') ? `${name}/` : name, names);
}
