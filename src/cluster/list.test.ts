import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, isError } from '../api/index.ts';
import { type Page, readPage, walkPages } from './list.ts';

const target = { apiVersion: 'v1', kind: 'ConfigMap' };

function page(names: string[], next?: string): Page {
  return {
    items: names.map((name) => ({ ...target, metadata: { name } })),
    resourceVersion: '7',
    next,
  };
}

test('a continuation that expired begins the list anew and says so', async () => {
  const answers: (Page | EspalierError)[] = [
    page(['a'], 'x'),
    new EspalierError('KubeGone', 'expired'),
    page(['a'], 'y'),
    page(['b']),
  ];
  const seen: string[] = [];
  const { resourceVersion } = await walkPages(
    async () => {
      const answer = answers.shift();
      if (answer === undefined || answer instanceof Error) throw answer;
      return answer;
    },
    (items, { restarted }) => seen.push(`${restarted ? 'anew ' : ''}${items.map((item) => item.metadata.name)}`),
  );
  assert.deepEqual(seen, ['a', 'anew a', 'b']);
  assert.equal(resourceVersion, '7');
});

test('after continuations expired again and again the list is asked for in one piece', async () => {
  const limits: (string | undefined)[] = [];
  await walkPages(
    async (query) => {
      if (query.continue !== undefined) throw new EspalierError('KubeGone', 'expired');
      limits.push(query.limit);
      return query.limit === undefined ? page(['a', 'b']) : page(['a'], 'x');
    },
    () => {},
  );
  assert.deepEqual(limits, ['500', '500', '500', undefined]);
});

test('an error in the middle of a list is an error of the whole', async () => {
  const answers = [page(['a'], 'x')];
  const walk = walkPages(
    async () => {
      const answer = answers.shift();
      if (answer === undefined) throw new EspalierError('KubeServerError', 'down');
      return answer;
    },
    () => {},
  );
  await assert.rejects(walk, (error) => isError(error, 'KubeServerError'));
});

const whole = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' }, items: [] };

for (const [title, body] of [
  ['an HTML page', '<html>login</html>'],
  ['half a list', JSON.stringify(whole).slice(0, -3)],
  ['another object', JSON.stringify({ kind: 'Status', metadata: {} })],
  ['a list without a resourceVersion', JSON.stringify({ ...whole, metadata: {} })],
  ['items that are no list', JSON.stringify({ ...whole, items: {} })],
  ['an item without a name', JSON.stringify({ ...whole, items: [{ metadata: {} }] })],
] as const) {
  test(`${title} instead of a list is an error, not an empty list`, () => {
    assert.throws(
      () => readPage(body, target, target),
      (error) => isError(error, 'KubeBadAnswer'),
    );
  });
}

test('items get the apiVersion and kind that the API server leaves out of lists', () => {
  const body = JSON.stringify({ ...whole, items: [{ metadata: { name: 'a' }, data: { k: 'v' } }] });
  const { items } = readPage(body, target, target);
  assert.deepEqual(items, [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } }]);
});

test('an empty list written by Go is empty', () => {
  assert.deepEqual(readPage(JSON.stringify({ ...whole, items: null }), target, target).items, []);
});
