import { StringDecoder } from 'node:string_decoder';

const LONGEST_LINE = 8192;

/** Cuts a stream of bytes into lines; a line without end is cut so that memory stays bounded. */
export function lineSplitter(onLine: (line: string) => void): { write(chunk: Uint8Array): void; end(): void } {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const take = (text: string) => {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
    if (rest.length < LONGEST_LINE) return;
    onLine(rest);
    rest = '';
  };
  return {
    write: (chunk) => take(decoder.write(Buffer.from(chunk))),
    end() {
      take(decoder.end());
      if (rest !== '') onLine(rest);
      rest = '';
    },
  };
}
