import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routeOf } from './gitroute.ts';

test('the four requests of smart HTTP are known', () => {
  const at = { repository: 'team/platform' };
  const refs = '/team/platform.git/info/refs?service=';
  assert.deepEqual(routeOf('GET', `${refs}git-upload-pack`), { ...at, service: 'git-upload-pack', step: 'refs' });
  assert.deepEqual(routeOf('GET', `${refs}git-receive-pack`), { ...at, service: 'git-receive-pack', step: 'refs' });
  assert.deepEqual(routeOf('POST', '/team/platform.git/git-upload-pack'), {
    ...at,
    service: 'git-upload-pack',
    step: 'exchange',
  });
  assert.deepEqual(routeOf('POST', '/team/platform.git/git-receive-pack'), {
    ...at,
    service: 'git-receive-pack',
    step: 'exchange',
  });
});

for (const [method, target] of [
  ['GET', '/platform.git/HEAD'],
  ['GET', '/platform.git/objects/info/packs'],
  ['GET', '/platform.git/info/refs'],
  ['GET', '/platform.git/info/refs?service=git-upload-archive'],
  ['POST', '/platform.git/info/refs?service=git-upload-pack'],
  ['GET', '/platform.git/git-upload-pack'],
  ['POST', '/../platform.git/git-upload-pack'],
  ['POST', '/%2e%2e/platform.git/git-upload-pack'],
  ['POST', '//platform.git/../x.git/git-upload-pack'],
  ['POST', '/platform.git/git-upload-pack/'],
] as const) {
  test(`${method} ${target} is none of them`, () => assert.equal(routeOf(method, target), undefined));
}
