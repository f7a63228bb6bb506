import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ANNOTATION, type InventoryEntry, type KubeObject, type Plugin, refKey, refOf } from '../api/index.ts';
import { noteRuns, onceIn, onceWishes, toRunAgain } from './once.ts';

function job(name: string, key?: string): KubeObject {
  const annotations = key === undefined ? {} : { [ANNOTATION.once]: key };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { namespace: 'web', name, annotations } };
}

const plugin = (kind: string) => ({ spec: { kind } }) as Plugin;
const entry = (name: string, over: Partial<InventoryEntry> = {}): [string, InventoryEntry] => {
  const ref = refOf(job(name));
  return [refKey(ref), { ...ref, uid: 'u', ...over }];
};

test('the annotation says what runs once; in a Helm release it says nothing, and that is told', () => {
  const objects = [job('a', 'v1'), job('b')];
  assert.deepEqual([...onceIn(plugin('manifests'), objects).keys.values()], ['v1']);
  const { keys, warnings } = onceIn(plugin('helm'), objects);
  assert.equal(keys.size, 0);
  assert.match(warnings.join(), /^Job web\/a: espalier\.dev\/once means nothing in a Helm release.*helm\.sh\/hook/);
});

test('a key that could not tell one run from another is refused with the name of the object', () => {
  for (const key of ['', ' ', 'x'.repeat(201)])
    assert.throws(() => onceIn(plugin('manifests'), [job('a', key)]), /Job web\/a: .*text of 1 to 200 characters/);
});

test('a run is noted for the very object and key that were applied, and once', () => {
  const ran = new Map([[entry('a')[0], { uid: 'u', once: 'v1' }]]);
  const parts = { owned: { ran: (at: string) => ran.get(at) }, clock: { now: () => 0 } } as never;
  const noted = (over: Partial<InventoryEntry>) => {
    const record = new Map([entry('a', over)]);
    const after = noteRuns(parts, record);
    return after === record ? 'no news' : [...after.values()][0]?.once;
  };
  assert.deepEqual(noted({ once: { key: 'v1' } }), { key: 'v1', at: '1970-01-01T00:00:00Z' });
  assert.equal(noted({ once: { key: 'v1', at: '2026-01-01T00:00:00Z' } }), 'no news');
  assert.equal(noted({ once: { key: 'v2' } }), 'no news');
  assert.equal(noted({ once: { key: 'v1' }, uid: 'another' }), 'no news');
  assert.equal(noted({}), 'no news');
});

test('what failed, or went before it had run, runs again when that is asked for', () => {
  const health = { failed: 'failed', busy: 'progressing' } as Record<string, string>;
  const owned = {
    get: (at: string) => {
      const name = at.split('/').at(-1)?.split(' ').at(-1) ?? '';
      return health[name] === undefined ? undefined : { health: { state: health[name] } };
    },
  };
  const once = { key: 'v1' };
  const record = new Map([
    entry('failed', { once }),
    entry('busy', { once }),
    entry('gone', { once }),
    entry('ran', { once: { ...once, at: '2026-01-01T00:00:00Z' } }),
    entry('plain'),
    entry('leaves', { once, applied: 'leaving' }),
  ]);
  const again = toRunAgain({ owned } as never, record);
  assert.deepEqual([...again], [entry('failed')[0], entry('gone')[0]]);
  const rendered = { once: new Map([[entry('failed')[0], 'v1']]), hashes: new Map([[entry('failed')[0], 'h']]) };
  assert.deepEqual([...onceWishes(rendered, record, again).values()], [{ key: 'v1', changed: true, rerun: true }]);
});
