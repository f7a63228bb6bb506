/** Why a hook can't be run as a script, with the cure and its line; undefined when it can. */
export function whyNoScript(bytes: Uint8Array): { line: number; message: string } | undefined {
  const zero = bytes.indexOf(0);
  const text = zero < 0 ? decoded(bytes) : undefined;
  if (text === undefined) return { line: 1, message: 'is binary: a hook is a script, as text in UTF-8' };
  const end = text.indexOf('\n');
  const first = end < 0 ? text : text.slice(0, end);
  if (!/^#!\s*\/\S/.test(first)) return { line: 1, message: 'does not begin with what runs it: begin with #!/bin/sh' };
  if (first.endsWith('\r'))
    return { line: 1, message: 'has line ends of Windows, which #! can not have: save it with LF' };
  return undefined;
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
