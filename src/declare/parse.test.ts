import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAlone, parseFile, syntaxFault } from './parse.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const OURS = 'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: a}\n';

describe('a file', () => {
  test('gives its documents of our group and passes over all others', () => {
    const { declarations, broken } = parseFile(
      bytes(`kind: ConfigMap\napiVersion: v1\n---\n${OURS}---\n${OURS}---\n- a\n`),
    );
    assert.equal(broken, undefined);
    assert.deepEqual(
      declarations.map((one) => [one.line, one.value.kind]),
      [
        [4, 'Plugin'],
        [8, 'Plugin'],
      ],
    );
  });

  test('that does not name our group is not parsed', () => {
    assert.deepEqual(parseFile(bytes('{{ broken')), { mentions: false, declarations: [] });
  });

  test('that is broken keeps what can be told of its declarations', () => {
    const { declarations, broken } = parseFile(bytes(`${OURS}---\n${OURS}spec: [`));
    assert.equal(broken?.line, 8);
    assert.equal(declarations.length, 2);
  });

  test('that holds plain text beside a declaration is broken', () => {
    assert.match(parseFile(bytes(`${OURS}---\noops\n`)).broken?.message ?? '', /plain text/);
  });

  test('that is not UTF-8 is broken', () => {
    assert.match(parseFile(new Uint8Array([0xff, 0xfe, 0x00])).broken?.message ?? '', /not UTF-8/);
  });

  test('begins with a byte order mark or not', () => {
    assert.equal(parseFile(bytes(`\uFEFF${OURS}`)).declarations.length, 1);
  });

  test('that is too large is broken when it says that it is ours, and not ours when it does not', () => {
    const padding = `# ${'x'.repeat(600 * 1024)}\n`;
    assert.match(parseFile(bytes(padding + OURS)).broken?.message ?? '', /larger than 512 KiB/);
    assert.deepEqual(parseFile(bytes(`${padding}labels: {espalier.dev/class: system}\n`)), {
      mentions: false,
      declarations: [],
    });
  });

  test('finds places by reading its text again', () => {
    const [first] = parseFile(bytes(`${OURS}spec:\n  timeout: 5m\n`)).declarations;
    assert.deepEqual(first?.locate('/spec/timeout'), { line: 5, column: 12, exact: true });
  });
});

describe('a file that stands alone', () => {
  test('is one map, or nothing', () => {
    assert.deepEqual(parseAlone(bytes('name: x\n')).document?.value, { name: 'x' });
    assert.deepEqual(parseAlone(bytes('# nothing\n')), {});
  });

  for (const text of ['- a', 'a: 1\n---\nb: 2', 'a: [', 'word']) {
    test(`${JSON.stringify(text)} is broken`, () => assert.ok(parseAlone(bytes(text)).broken !== undefined));
  }
});

test('a file of others must be YAML, with keys twice and tags as it likes', () => {
  assert.equal(syntaxFault(bytes('a: 1\na: 2\nb: !vault x\n')), undefined);
  assert.equal(syntaxFault(bytes('a: [')) === undefined, false);
  assert.equal(syntaxFault(bytes(`a: [${' '.repeat(300 * 1024)}`)), undefined);
});
