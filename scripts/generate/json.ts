const WIDTH = 120;

/** JSON as the formatter of this repository leaves it: lists of plain values on one line where they fit. */
export function formatJson(value: unknown): string {
  return `${format(value, '', 0)}\n`;
}

/** `used` is what stands before the value on its line, and the comma after it. */
function format(value: unknown, indent: string, used: number): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => format(item, inner, inner.length + 1));
    const line = `[${items.join(', ')}]`;
    const plain = value.every((item) => typeof item !== 'object' || item === null);
    if (value.length === 0 || (plain && used + line.length <= WIDTH)) return line;
    return `[\n${items.map((item) => inner + item).join(',\n')}\n${indent}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, item]) => {
    const start = `${inner}${JSON.stringify(key)}: `;
    return start + format(item, inner, start.length + 1);
  });
  return fields.length === 0 ? '{}' : `{\n${fields.join(',\n')}\n${indent}}`;
}
