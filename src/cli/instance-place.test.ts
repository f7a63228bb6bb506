import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeFor } from './instance-place.ts';

const WEB = { namespace: 'team', name: 'web' };
const none = (): boolean => false;

for (const [what, root, others, expected] of [
  ['in a folder of its namespace where there are no others', '', [], 'extensions/team/web.yaml'],
  ['below the path of the Sync', 'platform', [], 'platform/extensions/team/web.yaml'],
  ['beside those of its namespace', '', ['shop a/x.yaml', 'team b/y.yaml'], 'b/web.yaml'],
  ['beside others where nothing tells their folder from it', '', ['shop all/x.yaml'], 'all/web.yaml'],
  ['not in the folder of another namespace', '', ['shop extensions/shop/x.yaml'], 'extensions/team/web.yaml'],
  ['not beside an overlay', '', ['team clusters/prod/x.yaml'], 'extensions/team/web.yaml'],
  ['at the root where the others are', '', ['team x.yaml'], 'web.yaml'],
] as const)
  test(`a new instance is written ${what}`, () => {
    const known = others.map((one) => {
      const [namespace = '', file = ''] = one.split(' ');
      return { namespace, file };
    });
    assert.equal(placeFor(WEB, root, known, none), expected);
  });

test('a new instance takes no file that is there already', () => {
  const others = [{ namespace: 'team', file: 'a/x.yaml' }];
  assert.equal(
    placeFor(WEB, '', others, (path) => path === 'a/web.yaml'),
    'extensions/team/web.yaml',
  );
});
