export type Colour = 'green' | 'red' | 'yellow' | 'cyan' | 'dim' | 'bold';

const CODES: Readonly<Record<Colour, number>> = { green: 32, red: 31, yellow: 33, cyan: 36, dim: 2, bold: 1 };

/** Puts text in a colour, or gives it back as it is. */
export type Paint = (colour: Colour | undefined, text: string) => string;

export function painter(enabled: boolean): Paint {
  return (colour, text) =>
    !enabled || colour === undefined || text === '' ? text : `\u001b[${CODES[colour]}m${text}\u001b[0m`;
}
