import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collisionKey, whyUnsafe } from './safename.ts';

test('lets ordinary names pass, odd ones included', () => {
  for (const name of [
    'values.yaml',
    '.gitignore',
    '.github',
    '..data',
    '...',
    '__proto__',
    'constructor',
    'ünïcode',
    'a b',
    'console.yaml',
    'git',
    'x'.repeat(255),
  ]) {
    assert.equal(whyUnsafe(name), undefined, name);
  }
});

test('refuses names that lead elsewhere or mean something', () => {
  const names = [
    '',
    '.',
    '..',
    'a/b',
    '..\\x',
    '.git',
    '.GiT',
    '.git.',
    '.git ',
    'GIT~1',
    '.g\u200cit',
    '\ufeff.git',
    'a\nb',
    'a\u0000b',
    '\u007f',
    'bad\ufffd',
    'con',
    'AUX.txt',
    'lpt1',
    'x'.repeat(256),
    'ü'.repeat(128),
  ];
  for (const name of names) assert.notEqual(whyUnsafe(name), undefined, JSON.stringify(name));
});

test('knows names that are one on some file systems', () => {
  assert.equal(collisionKey('Values.YAML'), collisionKey('values.yaml'));
  assert.equal(collisionKey('caf\u00e9'), collisionKey('cafe\u0301'));
  assert.notEqual(collisionKey('a'), collisionKey('b'));
});
