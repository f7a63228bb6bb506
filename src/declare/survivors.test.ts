import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import type { Declarations, Declared } from './declarations.ts';
import { originFiles, originText } from './origin.ts';
import { survivors } from './survivors.ts';

function declared(key: string, ...files: string[]): Declared {
  const parts = files.map((file) => ({ file, line: 1, column: 1 }));
  const [origin = { file: '', line: 1, column: 1 }] = parts;
  return { key, object: {} as KubeObject, origin, parts, inputs: '', paths: [], locate: () => origin };
}

const nothing: Declarations = { objects: [], faults: [], refused: [], brokenFiles: [], uncertainFiles: [] };

describe('what must stay as it is', () => {
  const before = { key: 'web', origin: 'plugins/web.yaml:3, clusters/prod/web.yaml:1' };
  const cases: [title: string, now: Partial<Declarations>, stays: boolean][] = [
    ['nothing, when the declaration is simply gone', {}, false],
    ['nothing, when it is declared and all is well', { objects: [declared('web', 'plugins/web.yaml')] }, false],
    ['what came from a file that is broken', { brokenFiles: ['plugins/web.yaml'] }, true],
    [
      'what came from a broken overlay, though its base is fine',
      { objects: [declared('web', 'plugins/web.yaml')], brokenFiles: ['clusters/prod/web.yaml'] },
      true,
    ],
    ['what came from a folder that became a link', { brokenFiles: ['clusters/prod'] }, true],
    [
      'what is declared in another file while its old one is broken',
      { objects: [declared('web', 'new.yaml')], brokenFiles: ['plugins/web.yaml'] },
      true,
    ],
    ['what is refused', { refused: [{ key: 'web', why: 'x' }] }, true],
    [
      'what is gone from a file with a document that cannot be understood',
      { uncertainFiles: ['plugins/web.yaml'] },
      true,
    ],
    [
      'nothing, when such a file still declares it',
      {
        objects: [declared('web', 'plugins/web.yaml', 'clusters/prod/web.yaml')],
        uncertainFiles: ['plugins/web.yaml'],
      },
      false,
    ],
    [
      'what lost an overlay with a document that cannot be understood',
      { objects: [declared('web', 'plugins/web.yaml')], uncertainFiles: ['clusters/prod/web.yaml'] },
      true,
    ],
    ['nothing, when another file is broken', { brokenFiles: ['plugins/web.yam', 'plugins/other.yaml'] }, false],
  ];
  for (const [title, now, stays] of cases) {
    test(title, () => {
      const kept = survivors([before], { ...nothing, ...now });
      assert.deepEqual(
        kept.map((one) => one.key),
        stays ? ['web'] : [],
      );
      for (const { why } of kept) assert.ok(why.length > 0);
    });
  }

  test('nothing, when it is not known where it came from', () => {
    assert.deepEqual(survivors([{ key: 'web', origin: undefined }], { ...nothing, brokenFiles: ['a.yaml'] }), []);
  });
});

test('an origin is read back as it was written, whatever its files are called', () => {
  for (const files of [['a.yaml'], ['a, b:1.yaml', 'c/d.yaml'], ['x:12']]) {
    assert.deepEqual(originFiles(originText(declared('k', ...files))), files);
  }
  assert.deepEqual(originFiles(undefined), []);
});
