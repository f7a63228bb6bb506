/** The names below a value whose places are of interest. */
export interface Watched {
  [name: string]: Watched;
}

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** Where a value stands in its text: `text.slice(start, end)` is the value. */
export interface Place {
  kind: JsonKind;
  start: number;
  end: number;
  /** Of a watched object: every member in the order of the text, with its own places when it is watched too. */
  members: { name: string; start: number; place: Place }[];
  /** Of a watched array. */
  items: Place[];
}

export interface JsonFault {
  at: number;
  message: string;
}

/** Nobody nests deeper by hand, and a deeper text could exhaust the stack. */
const MAX_DEPTH = 1000;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const BYTE_ORDER_MARK = '\ufeff';
const WORDS = { true: 'boolean', false: 'boolean', null: 'null' } as const;

/** Reads a whole JSON text, strictly, and remembers places of what is watched alone: the rest costs no memory. */
export function jsonPlaces(text: string, watched: Watched): Place | JsonFault {
  try {
    const reader = new Reader(text);
    const place = reader.value(watched, 0);
    reader.end();
    return place;
  } catch (error) {
    if (error instanceof Unreadable) return { at: error.at, message: error.message };
    throw error;
  }
}

class Unreadable extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(watched: Watched | undefined, depth: number): Place {
    const place: Place = { kind: 'null', start: this.#next(), end: 0, members: [], items: [] };
    const first = this.#text.charCodeAt(this.#at);
    if (watched !== undefined && first === OPEN_BRACE) this.#object(place, watched, depth);
    else if (watched !== undefined && first === OPEN_BRACKET) this.#array(place, depth);
    else place.kind = this.#skip(depth);
    place.end = this.#at;
    return place;
  }

  end(): void {
    if (this.#next() < this.#text.length) throw this.#unexpected('the end of the file');
  }

  #object(place: Place, watched: Watched, depth: number): void {
    place.kind = 'object';
    this.#at++;
    if (this.#takes(CLOSE_BRACE)) return;
    do {
      const start = this.#name();
      const name = String(JSON.parse(this.#text.slice(start, this.#at)));
      if (!this.#takes(COLON)) throw this.#unexpected('":"');
      const value = this.value(Object.hasOwn(watched, name) ? watched[name] : undefined, depth + 1);
      place.members.push({ name, start, place: value });
    } while (this.#takes(COMMA));
    if (!this.#takes(CLOSE_BRACE)) throw this.#unexpected('"," or "}"');
  }

  #array(place: Place, depth: number): void {
    place.kind = 'array';
    this.#at++;
    if (this.#takes(CLOSE_BRACKET)) return;
    do place.items.push(this.value(undefined, depth + 1));
    while (this.#takes(COMMA));
    if (!this.#takes(CLOSE_BRACKET)) throw this.#unexpected('"," or "]"');
  }

  /** Past a value of which nothing is remembered: nearly all of a large file. */
  #skip(depth: number): JsonKind {
    if (depth > MAX_DEPTH) throw new Unreadable(this.#at, `is nested deeper than ${MAX_DEPTH} levels`);
    const first = this.#text.charCodeAt(this.#next());
    if (first === QUOTE) {
      this.#string();
      return 'string';
    }
    if (first === OPEN_BRACE) {
      this.#at++;
      if (this.#takes(CLOSE_BRACE)) return 'object';
      do {
        this.#name();
        if (!this.#takes(COLON)) throw this.#unexpected('":"');
        this.#skip(depth + 1);
      } while (this.#takes(COMMA));
      if (!this.#takes(CLOSE_BRACE)) throw this.#unexpected('"," or "}"');
      return 'object';
    }
    if (first !== OPEN_BRACKET) return this.#scalar();
    this.#at++;
    if (this.#takes(CLOSE_BRACKET)) return 'array';
    do this.#skip(depth + 1);
    while (this.#takes(COMMA));
    if (!this.#takes(CLOSE_BRACKET)) throw this.#unexpected('"," or "]"');
    return 'array';
  }

  #name(): number {
    const start = this.#next();
    if (this.#text.charCodeAt(start) !== QUOTE) throw this.#unexpected('a name in double quotes');
    this.#string();
    return start;
  }

  #string(): void {
    const text = this.#text;
    const start = this.#at;
    let at = start + 1;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code === BACKSLASH) {
        ESCAPE.lastIndex = at;
        if (!ESCAPE.test(text)) throw new Unreadable(at, 'no escape that JSON knows follows the \\');
        at = ESCAPE.lastIndex;
      } else if (code < 0x20) {
        throw new Unreadable(at, 'a text holds a line break or control character; write it as \\n');
      } else if (at >= text.length) {
        throw new Unreadable(start, 'a text begins here and never ends');
      } else at++;
    }
    this.#at = at + 1;
  }

  #scalar(): JsonKind {
    for (const [word, kind] of Object.entries(WORDS)) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return kind;
    }
    NUMBER.lastIndex = this.#at;
    if (!NUMBER.test(this.#text)) throw this.#unexpected('a value');
    this.#at = NUMBER.lastIndex;
    return 'number';
  }

  #takes(character: number): boolean {
    if (this.#text.charCodeAt(this.#next()) !== character) return false;
    this.#at++;
    return true;
  }

  /** Past white space. */
  #next(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return this.#at;
      this.#at++;
    }
  }

  #unexpected(wanted: string): Unreadable {
    const character = this.#text[this.#at];
    if (character === BYTE_ORDER_MARK)
      return new Unreadable(this.#at, 'there is a byte order mark, which JSON has not; save it as UTF-8 without one');
    const found = character === undefined ? 'the file ends' : `there is ${JSON.stringify(character)}`;
    const cure = character === '/' || character === '#' ? '; JSON has no comments, so remove it' : '';
    return new Unreadable(this.#at, `${found} where ${wanted} should be${cure}`);
  }
}
