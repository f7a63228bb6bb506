export type GoLine = { kind: 'module'; name: string } | { kind: 'package'; name: string } | { kind: 'other' };

/** What a line on the stderr of `go list` or `go build -v` is about. */
export function readGoLine(line: string): GoLine {
  const module = /^go: downloading (\S+ \S+)$/.exec(line)?.[1];
  if (module !== undefined) return { kind: 'module', name: module };
  return /^[A-Za-z0-9][\w./~+-]*$/.test(line) ? { kind: 'package', name: line } : { kind: 'other' };
}
