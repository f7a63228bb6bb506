import type { Declarations } from './declarations.ts';
import { isWithin } from './layout.ts';
import { originFiles } from './origin.ts';

/** An object that was declared by an earlier commit. */
export interface Previous {
  /** `refKey` of the object. */
  key: string;
  /** Its annotation `espalier.dev/origin`. */
  origin: string | undefined;
}

export interface Survivor {
  key: string;
  why: string;
}

/**
 * Of what was declared before, what must stay exactly as it is: neither removed nor changed, even where these
 * declarations still say something about it. An error is never an absence.
 */
export function survivors(previous: Iterable<Previous>, declarations: Declarations): Survivor[] {
  const declared = new Map(declarations.objects.map((one) => [one.key, one] as const));
  const refused = new Map(declarations.refused.map((one) => [one.key, one.why] as const));
  const kept: Survivor[] = [];
  for (const { key, origin } of previous) {
    const files = originFiles(origin);
    const broken = files.find((file) => declarations.brokenFiles.some((path) => isWithin(file, path)));
    const now = new Set(declared.get(key)?.parts.map((part) => part.file));
    const uncertain = files.find((file) => declarations.uncertainFiles.includes(file) && !now.has(file));
    const why = refused.get(key);
    if (why !== undefined) kept.push({ key, why });
    else if (broken !== undefined) kept.push({ key, why: `${broken}, which it comes from, can't be read` });
    else if (uncertain !== undefined)
      kept.push({ key, why: `${uncertain}, which it comes from, has a document that can't be understood` });
  }
  return kept;
}
