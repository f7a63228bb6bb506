import { hasCode } from './errno.ts';

/** Sends a signal to every process of a group. False when none is left. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
