/** Something in a template that can't be carried over, at an offset of its text. */
export class TemplateFault extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** `file:line:column: message` */
export function placed(file: string, text: string, { at, message }: { at: number; message: string }): string {
  const before = text.slice(0, at).split('\n');
  return `${file}:${before.length}:${(before.at(-1) ?? '').length + 1}: ${message}`;
}
