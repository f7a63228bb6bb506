import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAs, type Sync } from '../../api/index.ts';
import { keyOf } from '../store.ts';
import { syncFor } from './coverage.ts';

function sync(key: string, kubegems: boolean, allowedNamespaces?: string[], metadata: object = {}): Sync {
  const [namespace = '', name = ''] = key.split('/');
  const spec = { repository: { url: 'https://git.example.com/a.git' }, compat: { kubegems } };
  const allowed = allowedNamespaces === undefined ? {} : { allowedNamespaces };
  const object = { apiVersion: 'espalier.dev/v1alpha1', kind: 'Sync', metadata: { name, namespace, ...metadata } };
  return readAs({ ...object, spec: { ...spec, ...allowed } }, 'Sync');
}

test('the Sync of the namespace comes before those that name it, and those before the ones that may use all', () => {
  const all = [sync('a/all', true), sync('b/all', true), sync('c/some', true, ['web']), sync('web/own', true, [])];
  const forWeb = (syncs: Sync[]): string | undefined => {
    const found = syncFor(syncs, 'web');
    return found === undefined ? undefined : keyOf(found);
  };
  assert.equal(forWeb(all), 'web/own');
  assert.equal(forWeb(all.slice(0, 3)), 'c/some');
  assert.equal(forWeb(all.slice(0, 2)), 'a/all');
  assert.equal(forWeb([sync('c/some', true, ['other'])]), undefined);
  assert.equal(forWeb([sync('a/all', false)]), undefined);
  assert.equal(forWeb([sync('a/all', true, undefined, { deletionTimestamp: 'now' })]), undefined);
});
