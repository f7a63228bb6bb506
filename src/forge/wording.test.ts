import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saidBy } from './refusal.ts';
import { shorten, shortName, webLink } from './wording.ts';

test('leaves alone what is short enough', () => {
  assert.equal(shorten('12 plugins ready, 1 waiting: cert-manager'), '12 plugins ready, 1 waiting: cert-manager');
  assert.equal(shorten('x'.repeat(140)), 'x'.repeat(140));
});

test('cuts at the end of a word, and inside one only where there is no other way', () => {
  assert.equal(shorten('waiting: cert-manager, ingress', 28), 'waiting: cert-manager…');
  assert.equal(shorten('waiting: cert-manager', 22), 'waiting: cert-manager');
  assert.equal(shorten('x'.repeat(200)).length, 140);
});

test('makes one line of many, without marks that turn or hide text, and splits no character', () => {
  assert.equal(shorten('a\r\n\tb\u202ec\u0000d'), 'a b c d');
  const cut = shorten('😀'.repeat(100), 11);
  assert.ok(cut.isWellFormed());
  assert.ok(cut.length <= 11);
});

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
