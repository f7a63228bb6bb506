/** One object that a plan or its carrying out touches. */
export interface Touch {
  /** `namespace/name` of the Plugin. */
  plugin: string;
  /** `Deployment web/frontend` */
  object: string;
  /** Word of the plan; `same` where only the way of writing it changes. */
  action: string;
  /** Of what is declared; undefined where nothing is. */
  hash?: string;
}

/**
 * What was done otherwise than it was shown, in words. Objects that the plan called the same, and that are written all
 * the same with the content that it knew, are no difference.
 */
export function differences(shown: readonly Touch[], done: readonly Touch[]): string[] {
  const told = new Map(shown.map((touch) => [keyOf(touch), touch]));
  const found: string[] = [];
  for (const touch of done) {
    const before = told.get(keyOf(touch));
    told.delete(keyOf(touch));
    if (before === undefined) found.push(`${touch.object} was not in it (${touch.action})`);
    else if (before.hash !== touch.hash) found.push(`${touch.object} has other content`);
    else if (!isSameAction(before.action, touch.action))
      found.push(`${touch.object}: ${touch.action}, not ${before.action}`);
  }
  for (const touch of told.values()) if (touch.action !== 'same') found.push(`${touch.object}: no ${touch.action}`);
  return found;
}

function isSameAction(shown: string, done: string): boolean {
  return shown === done || (shown === 'same' && done === 'change');
}

function keyOf({ plugin, object }: Touch): string {
  return `${plugin} ${object}`;
}
