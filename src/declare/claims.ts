import type { Part } from './drafts.ts';
import { gitPathsOf, ownPath } from './git-paths.ts';
import { asOurs } from './kubegems.ts';
import { isWithin } from './layout.ts';

/** Folders, and files, whose content belongs to declarations elsewhere. */
export type Claims = ReadonlySet<string>;

/**
 * The folders that a declaration names as its source: what is in them is rendered, so it declares nothing itself. A
 * declaration that stands in the folder it names claims nothing, and neither does one that is itself inside a claimed
 * folder; the first by path wins.
 */
export function claimedFolders(parts: readonly Part[]): Claims {
  const claims = new Set<string>();
  for (const part of [...parts].sort((a, b) => (a.file < b.file ? -1 : 1))) {
    if (isClaimed(part.file, claims)) continue;
    const ours = asOurs(part.value);
    for (const { source } of gitPathsOf(ours !== undefined && 'plugin' in ours ? ours.plugin : part.value)) {
      const path = ownPath(source);
      if (path !== undefined && !isWithin(part.file, path)) claims.add(path);
    }
  }
  return claims;
}

export function isClaimed(path: string, claims: Claims): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (claims.has(path.slice(0, end))) return true;
  }
  return false;
}
