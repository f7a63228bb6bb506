/** The API server says both with status 500 and without a reason, as if the fault were its own. */
const NOT_TYPED = /^failed to create typed patch object \([^)]*\): (?:errors:\s*)?(.*)$/s;
const NOT_DECODED =
  /^failed to convert new object \([^)]*\) to proper version: unable to convert unstructured [^:]*: (.*)$/s;
/** What says nothing of values. */
const PATH_AND_RULE = /^(\.\S+: (?:field not declared in schema|expected [a-z() ]+[a-z)]))/;
const BASE64 = /illegal base64 data at input byte \d+/;
/** Go's way of writing a value that it knows nothing about. */
const GO_VALUE = /&value\.valueUnstructured\{Value:(.*)\}$/s;

/**
 * What of an applied object its schema does not have or wants otherwise, a text for each place, in a lasting order:
 * `.data.port: expected string, got 80`. Undefined where the server's message speaks of something else.
 */
export function misfitsIn(message: string, { withoutValues }: { withoutValues: boolean }): string[] | undefined {
  const said = NOT_TYPED.exec(message)?.[1]?.split(/\n {2}(?=\.)/) ?? NOT_DECODED.exec(message)?.slice(1);
  if (said === undefined) return undefined;
  if (!withoutValues) return said.map((one) => one.replace(GO_VALUE, (_, value: string) => inWords(value))).sort();
  return said.flatMap((one) => PATH_AND_RULE.exec(one)?.[1] ?? BASE64.exec(one)?.[0] ?? []).sort();
}

function inWords(value: string): string {
  if (value.startsWith('[]')) return 'a list';
  return value.startsWith('map[') ? 'a map' : value;
}

/** What to do about them. */
export function misfitHint(misfits: readonly string[]): string {
  if (misfits.some((one) => BASE64.test(one)))
    return '. What is no base64 belongs into stringData of a Secret, or data of a ConfigMap';
  if (misfits.some((one) => /: expected string, got (-?\d|true$|false$)/.test(one)))
    return '. Numbers, true and false are no strings: write them in quotes';
  return '';
}
