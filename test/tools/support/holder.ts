import { setTimeout as sleep } from 'node:timers/promises';
import { withLock } from '../../../src/tools/lock.ts';

/** A process that takes a lock, says so, and keeps it for some time. */
const [file = '', ms = '0'] = process.argv.slice(2);
await withLock(file, { doing: 'holding' }, async () => {
  process.stdout.write(`in ${Date.now()}\n`);
  await sleep(Number(ms));
  process.stdout.write(`out ${Date.now()}\n`);
});
