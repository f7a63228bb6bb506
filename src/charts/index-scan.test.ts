import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { dump } from 'js-yaml';
import { readEntry } from './index-entry.ts';
import { type Scanned, scanIndex } from './index-scan.ts';

async function scan(text: string, name: string, pieces = 7, maxBytes = 1 << 20): Promise<Scanned> {
  async function* cut(): AsyncGenerator<string> {
    for (let at = 0; at < text.length; at += pieces) yield text.slice(at, at + pieces);
  }
  return scanIndex(cut(), name, maxBytes);
}

async function versions(text: string, name: string, pieces?: number): Promise<string[] | string> {
  const found = await scan(text, name, pieces);
  if (!('text' in found)) return found.layout;
  return found.text === undefined ? [] : (await readEntry(found.text, found.layout)).map(({ version }) => version);
}

const HELM = `apiVersion: v1
entries:
  alpine:
  - created: 2026-01-01
    description: |
      entries:
        web:
      nothing of this is meant
    urls:
    - a.tgz
    version: 0.1.0

  # a comment
  web:
  - description: "- not an item"
    urls:
    - https://x.example.com/web-1.10.tgz
    version: 1.10
  - version: 1.2.0
    urls: [web-1.2.0.tgz]
    home: ''
  web2:
  - version: 9.9.9
    urls: [a]
generated: 2026-01-01
`;

describe('finds the versions of a chart in an index', () => {
  const layouts: [title: string, text: string][] = [
    ['as Helm writes it', HELM],
    ['with lines of Windows', HELM.replaceAll('\n', '\r\n')],
    ['with lists that are indented', HELM.replaceAll(/^( {2})(- | {2})/gm, '$1  $2')],
    [
      'with keys in quotes',
      HELM.replace('entries:\n  alpine', '"entries":\n  alpine').replace('  web:\n  - d', "  'web':\n  - d"),
    ],
    ['with a mark of its beginning', `\ufeff---\n${HELM}`],
    ['without a line at its end', HELM.slice(0, HELM.indexOf('  web2'))],
    [
      'as JSON',
      JSON.stringify({
        a: '{"entries":{"web":[',
        entries: {
          alpine: [{ version: '3', urls: ['"]}\\'] }],
          web: [
            { version: '1.10', urls: ['a'] },
            { version: '1.2.0', urls: ['b'] },
          ],
        },
        z: 1,
      }),
    ],
    [
      'as JSON of many lines',
      JSON.stringify(
        {
          entries: {
            web: [
              { version: '1.10', urls: ['a'] },
              { version: '1.2.0', urls: ['b'] },
            ],
          },
        },
        null,
        2,
      ),
    ],
  ];
  for (const [title, text] of layouts) {
    for (const pieces of [1, 13, 1 << 20]) {
      test(`${title}, in pieces of ${pieces}`, async () => {
        assert.deepEqual(await versions(text, 'web', pieces), ['1.10', '1.2.0']);
        assert.deepEqual(await versions(text, 'none', pieces), []);
      });
    }
  }
});

test('says when an index needs a whole parse, is none, or says too much', async () => {
  assert.equal(await versions('entries: {web: [{version: 1}]}\n', 'web'), 'other');
  assert.equal(await versions('entries:\n  web: [{version: 1}]\n', 'web'), 'other');
  assert.equal(await versions('entries:\n  ? web\n  : - version: 1\n', 'web'), 'other');
  assert.equal(await versions('<html>\n', 'web'), 'other');
  assert.equal(await versions('{"entries":', 'web'), 'other');
  assert.deepEqual(await versions('entries: {}\n', 'web'), []);
  assert.deepEqual(await scan(HELM, 'alpine', 7, 50), { layout: 'too large' });
  assert.deepEqual(await scan(JSON.stringify({ entries: { a: ['x'.repeat(99)] } }), 'a', 7, 50), {
    layout: 'too large',
  });
});

test('an item that refers to another is read all the same', async () => {
  const text = 'entries:\n  web:\n  - &a\n    version: 1.0.0\n    urls: &u [x]\n  - version: 2.0.0\n    urls: *u\n';
  assert.deepEqual(await versions(text, 'web'), ['1.0.0', '2.0.0']);
});

test('whatever js-yaml writes is found, whatever the descriptions hold', async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
  const item = fc.record({
    version: fc.stringMatching(/^[1-9]\.[0-9]\.[0-9]$/),
    description: fc.string({ unit: 'grapheme', maxLength: 60 }),
    urls: fc.array(fc.constant('a.tgz'), { minLength: 1, maxLength: 1 }),
    keywords: fc.array(fc.string({ maxLength: 5 })),
  });
  const entries = fc.dictionary(name, fc.array(item, { minLength: 1, maxLength: 4 }), { minKeys: 1, maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(entries, fc.integer({ min: 1, max: 50 }), fc.boolean(), async (all, pieces, noIndent) => {
      const index = { apiVersion: 'v1', entries: all, generated: 'now' };
      const texts = [dump(index, { seqNoIndent: noIndent }), JSON.stringify(index)];
      for (const text of texts) {
        for (const [key, items] of Object.entries(all)) {
          assert.deepEqual(
            await versions(text, key, pieces),
            items.map(({ version }) => version),
            text,
          );
        }
      }
    }),
    { numRuns: 200 },
  );
});
