import { formatImage, parseImage } from '../images/name.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const ODD = /[\u0000-\u001f\u007f\\\ufffd]/;

/** Why a path inside a package is not safe, with the cure; undefined when it is. */
export function whyUnsafe(path: string): string | undefined {
  if (path === '') return 'is empty: name a file';
  if (path.length > 1024) return 'is longer than 1024 characters: shorten it';
  if (ODD.test(path)) return 'holds backslashes or control characters: use plain names';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is an absolute path: write it without the beginning';
  const names = path.split('/');
  if (names.includes('..')) return 'leads out of its folder (..): write the path without it';
  if (names.some((name) => Buffer.byteLength(name) > 255)) return 'has a part of more than 255 bytes: shorten it';
  if (names.includes('.') || names.includes('')) return 'is written in a roundabout way: write it without . and //';
  return undefined;
}

/** An image as all registries call it; what is no image stays as it is. */
export function fullImage(image: string): string {
  const parsed = parseImage(image);
  return parsed === undefined ? image : formatImage(parsed);
}
