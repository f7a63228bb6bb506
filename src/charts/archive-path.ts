import { refused } from './errors.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u001f\u007f\\\ufffd]/;

/** The path of a file or folder in an archive, without a slash at its end; refused when it could mean another place. */
export function checkPath(path: string, where = ''): string {
  const bad = (why: string): Error =>
    refused(`The archive names ${quoted(path)}${where}, ${why}; such paths are refused.`, { path });
  if (path === '' || path.length > 1024) throw bad('which is empty or too long');
  if (CONTROL.test(path)) throw bad('which holds backslashes or control characters');
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) throw bad('an absolute path');
  const names = path.replace(/\/+$/, '').split('/');
  if (names.includes('..')) throw bad('which leads out of its folder');
  if (names.includes('.') || names.includes('')) throw bad('which is written in a roundabout way');
  return names.join('/');
}

export function quoted(path: string): string {
  return JSON.stringify(path.slice(0, 200));
}
