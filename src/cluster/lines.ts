const NEWLINE = 0x0a;

/** Cuts a byte stream into lines of text. Characters may be split over chunks; a line may not exceed the bound. */
export interface LineCutter {
  push(chunk: Uint8Array): void;
  /** Bytes of a line whose end has not come. */
  readonly pending: number;
}

export function createLineCutter(maxBytes: number, onLine: (line: string) => void): LineCutter {
  let parts: Uint8Array[] = [];
  let size = 0;

  function append(part: Uint8Array): void {
    size += part.length;
    if (size > maxBytes) throw new Error(`a line is longer than ${maxBytes} bytes`);
    if (part.length > 0) parts.push(part);
  }

  function flush(): void {
    const [first] = parts;
    const whole = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, size);
    parts = [];
    size = 0;
    if (whole.length > 0) onLine(decode(whole));
  }

  return {
    get pending() {
      return size;
    },
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        append(chunk.subarray(start, end));
        flush();
        start = end + 1;
      }
      append(chunk.subarray(start));
    },
  };
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
