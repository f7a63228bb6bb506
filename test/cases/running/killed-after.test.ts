import { test } from 'node:test';
import { sweep } from './support/sweep.ts';

// Abandoned in this process rather than killed, see `Body`: hundreds of processes would take an hour. killed-process has real ones.
test('R1 killed before it hears the answer to any of its writes, and started again, it ends where a run without faults ends, and rests', (t) =>
  sweep(t, { body: 'abandoned', when: 'after', parallel: 6 }));
