import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saidBy } from './refusal.ts';
import { shortName, webLink } from './wording.ts';

test('different long names never become the same, and one is the same each time', () => {
  const names = ['one', 'two'].map((end) => shortName(`espalier/${'x'.repeat(60)}/${end}`, 40));
  assert.ok(names.every((name) => name.length === 40));
  assert.notEqual(names[0], names[1]);
  assert.equal(shortName(`espalier/${'x'.repeat(60)}/one`, 40), names[0]);
  assert.equal(shortName('espalier/prod', 40), 'espalier/prod');
});

test('S26: takes links to the web and nothing else', () => {
  assert.equal(webLink('https://agent.example.com/a b'), 'https://agent.example.com/a%20b');
  for (const url of ['javascript:alert(1)', 'data:text/html,x', '/path', '', undefined])
    assert.equal(webLink(url), undefined);
});

test('hears what a forge says, in the form of each of them', () => {
  assert.equal(
    saidBy({ message: 'Validation Failed', errors: [{ code: 'custom', message: 'too many' }] }),
    'Validation Failed; too many',
  );
  assert.equal(saidBy({ message: { base: ['is invalid', 'is locked'] } }), 'base is invalid; base is locked');
  assert.equal(
    saidBy({ error: 'insufficient_scope', error_description: 'needs api' }),
    'insufficient_scope; needs api',
  );
  assert.equal(saidBy({ type: 'error', error: { message: 'Resource not found' } }), 'Resource not found');
  assert.equal(
    saidBy({ errors: [{ context: null, message: 'No such repository.', exceptionName: 'x' }] }),
    'No such repository.',
  );
  for (const nothing of [undefined, null, 'text', 42, [], {}]) assert.equal(saidBy(nothing), '');
});
