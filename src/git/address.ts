import { BlockList, isIP } from 'node:net';

/** What an address is when it is not a public one. */
export type AddressKind = 'loopback' | 'link-local' | 'private' | 'reserved';

const RANGES: [AddressKind, string, number][] = [
  ['loopback', '127.0.0.0', 8],
  ['loopback', '::1', 128],
  ['link-local', '169.254.0.0', 16],
  ['link-local', 'fe80::', 10],
  ['private', '10.0.0.0', 8],
  ['private', '172.16.0.0', 12],
  ['private', '192.168.0.0', 16],
  ['private', '100.64.0.0', 10],
  ['private', 'fc00::', 7],
  ['private', 'fec0::', 10],
  ['private', '64:ff9b:1::', 48],
  // 0.0.0.0 and :: reach this very machine.
  ['loopback', '0.0.0.0', 8],
  ['loopback', '::', 128],
  ['reserved', '192.0.0.0', 24],
  ['reserved', '192.0.2.0', 24],
  ['reserved', '198.18.0.0', 15],
  ['reserved', '198.51.100.0', 24],
  ['reserved', '203.0.113.0', 24],
  ['reserved', '224.0.0.0', 3],
  ['reserved', '100::', 64],
  ['reserved', '2001::', 32],
  ['reserved', '2001:db8::', 32],
  ['reserved', 'ff00::', 8],
];

const LISTS = new Map<AddressKind, BlockList>();
for (const [kind, address, prefix] of RANGES) {
  const list = LISTS.get(kind) ?? new BlockList();
  list.addSubnet(address, prefix, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  LISTS.set(kind, list);
}

/** Undefined for a public address. An IPv4 address inside an IPv6 one counts as what it is. */
export function kindOfAddress(address: string): AddressKind | undefined {
  const plain = embeddedIpv4(address) ?? address;
  const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4';
  for (const [kind, list] of LISTS) {
    if (list.check(plain, family)) return kind;
  }
  return undefined;
}

/** True for what `isWithin` understands: `10.1.0.0/16`, `fd00::/8` or a plain address. */
export function isRange(text: string): boolean {
  const [, start = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(start);
  return family !== 0 && (prefix === undefined || Number(prefix) <= (family === 6 ? 128 : 32));
}

/** True when an address is in one of the ranges. */
export function isWithin(address: string, ranges: string[]): boolean {
  const plain = embeddedIpv4(address) ?? address;
  const list = new BlockList();
  for (const range of ranges) {
    const [start = '', prefix] = range.split('/');
    const family = isIP(start) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(start, family);
    else list.addSubnet(start, Number(prefix), family);
  }
  return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}

/** The IPv4 address that an IPv6 one stands for: mapped, compatible, NAT64 and 6to4 forms. */
export function embeddedIpv4(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  const words = ipv6Words(address);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = words;
  const dotted = (high: number, low: number): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');
  if (a === 0x2002) return dotted(b, c);
  if (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) return dotted(g, h);
  if (a !== 0 || b !== 0 || c !== 0 || d !== 0) return undefined;
  if (e === 0 && (f === 0xffff || (f === 0 && (g !== 0 || h > 1)))) return dotted(g, h);
  return e === 0xffff && f === 0 ? dotted(g, h) : undefined;
}

function ipv6Words(address: string): number[] {
  const bare = address.split('%')[0] ?? '';
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(bare);
  const hex = (high: string | undefined, low: string | undefined): string =>
    (Number(high) * 256 + Number(low)).toString(16);
  const text = dotted === null ? bare : `${dotted[1]}${hex(dotted[2], dotted[3])}:${hex(dotted[4], dotted[5])}`;
  const [left = '', right] = text.split('::');
  const words = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16));
  const start = words(left);
  if (right === undefined) return start;
  const end = words(right);
  return [...start, ...new Array<number>(Math.max(0, 8 - start.length - end.length)).fill(0), ...end];
}
