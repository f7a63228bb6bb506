import { createHash } from 'node:crypto';

const MARK = /^\uFEFF?\[\/\/\]: # \(espalier:([^()\s]*)\)[ \t]*(?:\r?\n|$)/;
const LONGEST = 120;
/** What `withMarker` adds at most. */
export const MARKER_LENGTH = LONGEST + 32;

/**
 * A comment that can be found again. The marker is a Markdown link definition that nothing refers to: every forge keeps it
 * and shows nothing, also those that show HTML comments as text. It comes first, where no open fence or list can swallow it.
 */
export function withMarker(body: string, marker: string): string {
  return `[//]: # (espalier:${encode(marker)})\n\n${body}`;
}

/** True for a body that `withMarker` made with this marker. A marker further down is somebody's quotation. */
export function bears(body: string, marker: string): boolean {
  return MARK.exec(body)?.[1] === encode(marker);
}

/** True for a body that any agent marked as its own. */
export function isMarked(body: string): boolean {
  return MARK.test(body);
}

/** Forges store line ends and the end of a text as they like. */
export function sameText(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

function plain(text: string): string {
  return text.replace(/\r\n?/g, '\n').trimEnd();
}

function encode(marker: string): string {
  const safe = encodeURIComponent(marker.toWellFormed()).replace(
    /[()!'*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return safe.length <= LONGEST ? safe : createHash('sha256').update(marker).digest('hex');
}
