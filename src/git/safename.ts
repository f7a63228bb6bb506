/** Characters that some file systems ignore in names, so that `.g<U+200C>it` is `.git` there. */
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;
/** Names that are devices on some systems, whatever their ending. */
const RESERVED = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/** Why a name from a repository must not become a file's name here; undefined when it may. */
export function whyUnsafe(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..') return 'is no name of its own';
  if (name.includes('/') || name.includes('\\')) return 'contains a separator of folders';
  if (CONTROL.test(name)) return 'contains control characters';
  if (name.includes('\ufffd')) return 'is not valid UTF-8';
  if (Buffer.byteLength(name) > 255) return 'is longer than 255 bytes';
  const folded = name
    .replace(IGNORED, '')
    .toLowerCase()
    .replace(/[. ]+$/, '');
  if (folded === '.git' || /^git~\d+$/.test(folded)) return "is the name of Git's own folder";
  if (RESERVED.test(name)) return 'is reserved on some systems';
  return undefined;
}

/** Two names with one key are one file on some file systems. */
export function collisionKey(name: string): string {
  return name.normalize('NFC').replace(IGNORED, '').toLowerCase();
}
