import { test } from 'node:test';
import { sweep } from './support/sweep.ts';

test('R1 the agent as it is run, killed by SIGKILL at some of its writes, ends where a run without faults ends, and rests', (t) =>
  sweep(t, { body: 'process', when: 'after', parallel: 3, at: [4, 9, 14] }));
