import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorten } from './one-line.ts';

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
