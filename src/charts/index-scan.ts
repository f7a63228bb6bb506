/** What the scan of an index found of one chart. */
export type Scanned =
  /** The text of its list, as YAML or JSON; undefined when the index has no such chart. */
  | { layout: 'yaml' | 'json'; text: string | undefined }
  /** Written in a way that needs a whole parse. */
  | { layout: 'other' }
  | { layout: 'too large' };

/**
 * Finds the list of one chart in an index.yaml of any size without reading the rest as YAML: `entries:` at the left margin,
 * below it the chart's name, and all that is indented further. JSON is told by its first character.
 */
export async function scanIndex(chunks: AsyncIterable<string>, name: string, maxBytes: number): Promise<Scanned> {
  let scanner: YamlScanner | JsonScanner | undefined;
  let start = '';
  for await (const chunk of chunks) {
    let text = chunk;
    if (scanner === undefined) {
      start += chunk;
      const first = start.replace(/^\ufeff/, '').trimStart()[0];
      if (first === undefined) continue;
      scanner = first === '{' ? new JsonScanner(name, maxBytes) : new YamlScanner(name, maxBytes);
      text = start.replace(/^\ufeff/, '');
    }
    const found = scanner.push(text);
    if (found !== undefined) return found;
  }
  return scanner?.end() ?? { layout: 'yaml', text: undefined };
}

const LONGEST_KEY_LINE = 1024;

class YamlScanner {
  readonly #name: string;
  readonly #maxBytes: number;
  #rest = '';
  #state: 'before' | 'entries' | 'inside' = 'before';
  #indent: number | undefined;
  #lines: string[] = [];
  #bytes = 0;

  constructor(name: string, maxBytes: number) {
    this.#name = name;
    this.#maxBytes = maxBytes;
  }

  push(text: string): Scanned | undefined {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > this.#maxBytes) return { layout: 'too large' };
    for (const line of lines) {
      const found = this.#line(line);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  end(): Scanned {
    return this.#line(this.#rest) ?? this.#finish();
  }

  #finish(): Scanned {
    if (this.#state === 'before') return { layout: 'other' };
    return { layout: 'yaml', text: this.#state === 'inside' ? this.#lines.join('\n') : undefined };
  }

  #line(line: string): Scanned | undefined {
    if (this.#state === 'before') return this.#before(line);
    const trimmed = line.trimStart();
    const indent = line.length - trimmed.length;
    const blank = trimmed === '' || trimmed === '\r';
    if (this.#state === 'inside') {
      // A list may stand at the indentation of its own key.
      const within = blank || indent > (this.#indent ?? 0) || (indent === this.#indent && /^-(\s|$)/.test(trimmed));
      if (!within) return trimmed.startsWith('#') ? undefined : this.#finish();
      this.#bytes += line.length;
      if (this.#bytes > this.#maxBytes) return { layout: 'too large' };
      this.#lines.push(line);
      return undefined;
    }
    if (blank || trimmed.startsWith('#')) return undefined;
    if (indent === 0) return this.#finish();
    this.#indent ??= indent;
    if (indent < this.#indent || line.startsWith('\t')) return { layout: 'other' };
    if (indent > this.#indent || /^-(\s|$)/.test(trimmed)) return undefined;
    const key = keyOf(trimmed);
    if (key === undefined) return { layout: 'other' };
    if (key.name !== this.#name) return undefined;
    if (key.rest !== '') return { layout: 'other' };
    this.#state = 'inside';
    return undefined;
  }

  #before(line: string): Scanned | undefined {
    if (!/^["']?entries/.test(line)) return undefined;
    const key = keyOf(line);
    if (key?.name !== 'entries') return undefined;
    if (key.rest === '{}') return { layout: 'yaml', text: undefined };
    if (key.rest !== '') return { layout: 'other' };
    this.#state = 'entries';
    return undefined;
  }
}

function keyOf(line: string): { name: string; rest: string } | undefined {
  if (line.length > LONGEST_KEY_LINE) return undefined;
  const [, quoted, plain, rest = ''] = /^(?:["']([\w.-]+)["']|([\w.-]+))[ \t]*:(?:[ \t]+(.*))?\r?$/.exec(line) ?? [];
  const name = quoted ?? plain;
  if (name === undefined) return undefined;
  return { name, rest: rest.startsWith('#') ? '' : rest.trim() };
}

/** Follows brackets and strings, character by character, and keeps the value of entries.<name> alone. */
class JsonScanner {
  readonly #name: string;
  readonly #maxBytes: number;
  #depth = 0;
  #string: string | undefined;
  #escaped = false;
  /** A string at depth 1 or 2 that a colon may make a key. */
  #candidate: string | undefined;
  #inEntries = false;
  #kept: string[] | undefined;
  #bytes = 0;

  constructor(name: string, maxBytes: number) {
    this.#name = name;
    this.#maxBytes = maxBytes;
  }

  push(text: string): Scanned | undefined {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const char = text[at] ?? '';
      if (this.#string !== undefined) {
        this.#inString(char);
        continue;
      }
      if (char === '"') this.#string = '';
      else if (char === ':' && this.#depth <= 2) {
        if (this.#key()) from = at + 1;
      } else if (char === '{' || char === '[') this.#depth += 1;
      else if (char === '}' || char === ']' || char === ',') {
        if (this.#kept !== undefined && this.#depth === 2) {
          this.#kept.push(text.slice(from, at));
          return { layout: 'json', text: this.#kept.join('') };
        }
        if (char !== ',') this.#depth -= 1;
        if (this.#inEntries && this.#depth === 1) return { layout: 'json', text: undefined };
      }
    }
    if (this.#kept !== undefined) {
      const part = text.slice(from);
      this.#bytes += part.length;
      if (this.#bytes > this.#maxBytes) return { layout: 'too large' };
      this.#kept.push(part);
    }
    return undefined;
  }

  end(): Scanned {
    return { layout: 'other' };
  }

  #inString(char: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (char === '\\') this.#escaped = true;
    else if (char === '"') {
      this.#candidate = this.#string;
      this.#string = undefined;
      return;
    }
    if (this.#depth <= 2 && (this.#string?.length ?? 0) < 300) this.#string += char;
  }

  /** True when what follows is to be kept. */
  #key(): boolean {
    if (this.#depth === 1) this.#inEntries = this.#candidate === 'entries';
    if (this.#depth !== 2 || !this.#inEntries || this.#kept !== undefined || this.#candidate !== this.#name)
      return false;
    this.#kept = [];
    return true;
  }
}
