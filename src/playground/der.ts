/** Just enough of ASN.1 DER to write an X.509 certificate: Node reads certificates but does not make them. */

export function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body), body]);
}

function lengthOf(body: Uint8Array): Buffer {
  if (body.length < 0x80) return Buffer.from([body.length]);
  const digits: number[] = [];
  for (let rest = body.length; rest > 0; rest >>>= 8) digits.unshift(rest & 0xff);
  return Buffer.from([0x80 | digits.length, ...digits]);
}

export function sequence(...parts: Uint8Array[]): Buffer {
  return der(0x30, ...parts);
}

export function set(...parts: Uint8Array[]): Buffer {
  return der(0x31, ...parts);
}

/** Constructed, context-specific tag `[n]`. */
export function tagged(n: number, ...parts: Uint8Array[]): Buffer {
  return der(0xa0 | n, ...parts);
}

/** A non-negative integer from its big-endian bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const sign = ((bytes[0] ?? 0) & 0x80) !== 0 ? [0] : [];
  return der(0x02, Buffer.from(sign), bytes);
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return der(0x03, Buffer.from([unusedBits]), bytes);
}

export function octetString(bytes: Uint8Array): Buffer {
  return der(0x04, bytes);
}

export function boolean(value: boolean): Buffer {
  return der(0x01, Buffer.from([value ? 0xff : 0]));
}

export function utf8(text: string): Buffer {
  return der(0x0c, Buffer.from(text, 'utf8'));
}

/** UTCTime: good until 2049, which is longer than anything made here lives. */
export function utcTime(at: Date): Buffer {
  const digits = at.toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`, 'ascii'));
}

/** An object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const septets = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      septets.unshift(0x80 | (left & 0x7f));
    bytes.push(...septets);
  }
  return der(0x06, Buffer.from(bytes));
}
