import { refused } from './errors.ts';

const BLOCK = /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n([\s\S]*?)-----END PGP PUBLIC KEY BLOCK-----/g;

/** Armored public keys as the binary keyring that Helm reads. */
export function dearmor(keys: readonly string[]): Buffer {
  const packets = keys.flatMap((text) => [...text.matchAll(BLOCK)].map(([, inside = '']) => decode(inside)));
  if (packets.length === 0 || packets.some((each) => each.length === 0)) {
    throw refused(
      'There is no PGP public key to verify charts with: the Secret needs one as `gpg --armor --export` prints it.',
    );
  }
  return Buffer.concat(packets);
}

/** Headers end at the first empty line; `=abcd` at the end is a checksum. */
function decode(block: string): Buffer {
  const lines = block.split(/\r?\n/).map((line) => line.trim());
  const empty = lines.indexOf('');
  const body = lines.slice(lines.slice(0, Math.max(empty, 0)).every((line) => line.includes(':')) ? empty + 1 : 0);
  return Buffer.from(body.filter((line) => line !== '' && !line.startsWith('=')).join(''), 'base64');
}
