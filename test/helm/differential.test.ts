import { describe, test } from 'node:test';
import { FIXTURES } from './charts/all.ts';
import { compareSides } from './support/compare.ts';
import { agentSide, plainSide } from './support/sides.ts';

// Objects, who manages which of their fields, the order of hooks, and all that Helm tells of the release.
describe('a release by the agent is as one by helm upgrade --install', { concurrency: 2 }, () => {
  for (const fixture of FIXTURES) {
    test(`${fixture.name}, its chart from ${fixture.source}: installed, upgraded and uninstalled`, async (t) => {
      const sides = [await plainSide(t, fixture), await agentSide(t, fixture)] as const;
      await compareSides([fixture, fixture], sides, ['helm', 'agent']);
    });
  }
});
