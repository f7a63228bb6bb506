import { test } from 'node:test';
import { testGitServer } from '../../support/gitserver.ts';
import { type Life, livesOf, momentsOf } from '../support/moments.ts';
import { faultless, sweep } from './support/sweep.ts';

test('R1 killed at a write, and started again, the agent ends where a run without faults ends, and rests', async (t) => {
  const repository = await (await testGitServer(t)).createRepository('platform');
  const expected = await faultless(t, repository);

  // Abandoned in this process rather than killed, see `Body`: that many processes would take an hour.
  await t.test('at each kind of write of an installation, a change and a removal', async (t) => {
    const lives = livesOf(
      expected.map(({ writes }) => momentsOf(writes)),
      3,
    );
    await sweep(t, { repository, expected, body: 'abandoned', parallel: 3, lives });
  });

  await t.test('by SIGKILL, as it is run', async (t) => {
    const life: Life = [
      [{ of: 'PATCH configmaps', at: 1, when: 'after' }],
      [{ of: 'DELETE plugins', at: 1, when: 'after' }],
      [{ of: 'DELETE widgets', at: 1, when: 'after' }],
    ];
    await sweep(t, { repository, expected, body: 'process', parallel: 1, lives: [life] });
  });
});
