import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isError } from '../api/index.ts';
import { parseGet } from './get-request.ts';
import { kindOfWord, parseTargets } from './target.ts';

test('a kind goes by every name that kubectl knows it by', () => {
  for (const word of ['sync', 'syncs', 'syn', 'Sync', 'sync.espalier.dev', 'syncs.v1alpha1.espalier.dev']) {
    assert.equal(kindOfWord(word), 'Sync', word);
  }
  for (const word of ['plugin', 'plugins', 'plg', 'PLUGINS', 'plugin.espalier.dev']) {
    assert.equal(kindOfWord(word), 'Plugin', word);
  }
  assert.equal(kindOfWord('plugin.example.com'), undefined);
});

test('names may follow their kind, carry it, or stand alone', () => {
  assert.deepEqual(parseTargets(['plugin', 'web', 'dns']), [
    { kind: 'Plugin', name: 'web' },
    { kind: 'Plugin', name: 'dns' },
  ]);
  assert.deepEqual(parseTargets(['sync/platform', 'plg/web', 'dns']), [
    { kind: 'Sync', name: 'platform' },
    { kind: 'Plugin', name: 'web' },
    { name: 'dns' },
  ]);
});

test('a kind alone is a name, for a Sync may be called sync', () => {
  assert.deepEqual(parseTargets(['sync']), [{ name: 'sync' }]);
});

for (const [words, message] of [
  [['deployment/web'], /there is no kind "deployment"/],
  [['plugin/'], /names nothing: say plugin\/<name>/],
  [['plugin/web/x'], /names nothing/],
  [['sync', 'plugin/web'], /say either "sync <name>" or "plugin\/web"/],
  [[''], /an empty name/],
] satisfies [string[], RegExp][]) {
  test(`"${words.join(' ')}" is refused with what to say instead`, () => {
    assert.throws(
      () => parseTargets(words),
      (error) => isError(error, 'InvalidConfiguration') && message.test(error.message),
    );
  });
}

test('get takes kinds, kinds with names, and names that carry their kind', () => {
  assert.deepEqual(parseGet([]), { kinds: ['Sync', 'Plugin'] });
  assert.deepEqual(parseGet(['all']), { kinds: ['Sync', 'Plugin'] });
  assert.deepEqual(parseGet(['plugins,syncs']), { kinds: ['Sync', 'Plugin'] });
  assert.deepEqual(parseGet(['plg', 'web']), { kinds: ['Plugin'], names: [{ kind: 'Plugin', name: 'web' }] });
  assert.deepEqual(parseGet(['plugin/web', 'sync/a']), {
    kinds: ['Sync', 'Plugin'],
    names: [
      { kind: 'Plugin', name: 'web' },
      { kind: 'Sync', name: 'a' },
    ],
  });
});

for (const [words, message] of [
  [['web'], /there is no kind "web".*"espalier get plugin web"/],
  [['all', 'web'], /names go with one kind/],
  [['plugin/web', 'dns'], /which kind is "dns"\?/],
] satisfies [string[], RegExp][]) {
  test(`get "${words.join(' ')}" is refused with what to say instead`, () => {
    assert.throws(() => parseGet(words), message);
  });
}
