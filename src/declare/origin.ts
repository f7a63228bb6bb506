import type { Declared } from './declarations.ts';

/**
 * The text of the annotation `espalier.dev/origin`: where an object is declared, its base first, then its overlays.
 * `plugins/web.yaml:1, clusters/prod/web.yaml:1`
 */
export function originText(declared: Pick<Declared, 'parts'>): string {
  return declared.parts.map(({ file, line }) => `${file}:${line}`).join(', ');
}

/** The files that such an annotation names. */
export function originFiles(origin: string | undefined): string[] {
  if (origin === undefined || origin === '') return [];
  return origin.split(/(?<=:\d+), /).map((place) => place.replace(/:\d+$/, ''));
}
