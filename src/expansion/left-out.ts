import { LABEL } from '../api/index.ts';
import type { Expansion } from './format.ts';

/** Whether a package is for the management cluster alone, and this is another. */
export function isLeftOut(expansion: Expansion, labels: Readonly<Record<string, string>>): boolean {
  return expansion.disable_pass_through_to_platform && labels[LABEL.role] !== 'management';
}
