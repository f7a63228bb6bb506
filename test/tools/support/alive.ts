import { startOf } from '../../../src/tools/owner.ts';

/** True while a process runs. One that is dead and not yet collected does not. */
export function isAlive(pid: number): boolean {
  return startOf(pid) !== undefined;
}
