import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bears, isMarked, MARKER_LENGTH, sameText, withMarker } from './marker.ts';

test('a marked body is found again by its marker and by no other', () => {
  const body = withMarker('# Plan\n\n```\nopen fence', 'team/prod');
  assert.ok(bears(body, 'team/prod'));
  assert.ok(bears(body.replaceAll('\n', '\r\n'), 'team/prod'));
  assert.ok(!bears(body, 'team/pro'));
  assert.ok(!bears(body, 'team/prod2'));
  assert.ok(isMarked(body));
});

test('a marker that somebody quotes is none', () => {
  for (const quoted of [`> ${withMarker('x', 'prod')}`, `look:\n\n${withMarker('x', 'prod')}`, 'plain', '']) {
    assert.ok(!bears(quoted, 'prod'));
    assert.ok(!isMarked(quoted));
  }
});

test('no marker can end the definition that hides it, or grow past its bound', () => {
  for (const marker of ['a) <img onerror=x> (', 'a\n\n# b', '(((', '\'"*_~!', 'ü/😀', '\ud800', 'x'.repeat(500)]) {
    const body = withMarker('', marker);
    assert.match(body, /^\[\/\/\]: # \(espalier:[\w.%-]+\)\n\n$/);
    assert.ok(body.length <= MARKER_LENGTH, marker);
    assert.ok(bears(body, marker));
  }
  assert.notEqual(withMarker('', 'x'.repeat(500)), withMarker('', 'x'.repeat(501)));
});

test('line ends and blanks at the end make no other text', () => {
  assert.ok(sameText('a\r\nb\r\n\r\n', 'a\nb'));
  assert.ok(!sameText('a\nb', 'a\n\nb'));
});
