import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShownStatus } from './repository.ts';
import { TourNews, type TourSight } from './tour-news.ts';

const HEAD = 'a'.repeat(40);

test('each status is told when it is new or says something else, and never again', () => {
  const news = new TourNews();
  const [plan, drift] = [status('espalier/prod/plan', 'pending'), status('espalier/prod/drift', 'success')];
  assert.deepEqual(news.linesFor(sight([plan])), [
    '… pending  espalier/prod/plan on the pull request (aaaaaaa): it is pending',
  ]);
  assert.deepEqual(news.linesFor(sight([plan, drift])).length, 1);
  assert.deepEqual(news.linesFor(sight([plan, drift])), []);
  assert.match(news.linesFor(sight([status('espalier/prod/plan', 'failure'), drift])).join(), /^✘ failure/);
});

test('the same status on another commit is news', () => {
  const news = new TourNews();
  news.linesFor(sight([status('espalier/prod', 'success')]));
  assert.equal(news.linesFor(sight([status('espalier/prod', 'success')], 'b'.repeat(40))).length, 1);
});

test('a comment is told when it is written and when it changes, without its marker', () => {
  const news = new TourNews();
  const comment = { id: 3, author: 'espalier', body: '[//]: # (espalier:prod)\n\n**2** to change\n\n- web\n' };
  const lines = ['✎ espalier writes on the pull request:', '  │ **2** to change', '  │', '  │ - web'];
  assert.deepEqual(news.linesFor({ commits: [], comments: [comment] }), lines);
  assert.deepEqual(news.linesFor({ commits: [], comments: [comment] }), []);
  assert.deepEqual(news.linesFor({ commits: [], comments: [{ ...comment, body: 'nothing\r\nat all' }] }).slice(1), [
    '  │ nothing',
    '  │ at all',
  ]);
});

test('a long comment is cut, and says so', () => {
  const body = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n');
  const lines = new TourNews().linesFor({ commits: [], comments: [{ id: 1, author: 'espalier', body }] });
  assert.equal(lines.length, 82);
  assert.equal(lines.at(-1), '  │ … 20 more lines on its page');
});

function status(context: string, state: string): ShownStatus {
  return { context, state, description: `it is ${state}`, url: '', author: 'espalier' };
}

function sight(statuses: ShownStatus[], commit = HEAD): TourSight {
  return { commits: [{ name: 'the pull request', commit, statuses }], comments: [] };
}
