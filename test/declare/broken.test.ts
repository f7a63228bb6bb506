import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeFault } from '../../src/declare/fault.ts';
import { survivors } from '../../src/declare/survivors.ts';
import { namesOf, platform, plugin, read, remember, shortNames, type Texts } from './platform.ts';

const TWENTY = Array.from({ length: 20 }, (_, index) => `p${index}`);

/** What stays as it is when a commit makes `after` out of `before`. */
async function kept(before: Texts, after: Texts): Promise<string[]> {
  return shortNames(survivors(remember(await read(before)), await read(after)));
}

describe('D3: one of twenty files is broken YAML', () => {
  const breakages: Record<string, string | Uint8Array> = {
    'an unfinished list': plugin('p7', 'patches: [{target: {'),
    'a tab': plugin('p7', '\tx: 1'),
    'a conflict of a merge': `<<<<<<< HEAD\n${plugin('p7')}=======\n`,
    'something that is no YAML and does not even name us': 'this: is: not: [yaml',
    'an error page': '<html><body>502 Bad Gateway</body></html>',
    'bytes that are no text': new Uint8Array([0x00, 0xff, 0xfe, 0x80]),
  };
  for (const [what, content] of Object.entries(breakages)) {
    test(`${what}: the nineteen others go on, and nothing of the broken one changes`, async () => {
      const after = { ...platform(...TWENTY), 'plugins/p7.yaml': content };
      const found = await read(after);
      assert.deepEqual(namesOf(found), TWENTY.filter((name) => name !== 'p7').sort());
      const lines = found.faults.map(describeFault);
      assert.equal(lines.length, 1);
      assert.match(lines[0] ?? '', /^plugins\/p7\.yaml:\d+:\d+: /);
      assert.deepEqual(found.brokenFiles, ['plugins/p7.yaml']);
      assert.deepEqual(await kept(platform(...TWENTY), after), ['p7']);
    });
  }

  test('a broken file that declared several objects keeps them all', async () => {
    const before = {
      ...platform('a', 'b', 'c'),
      'plugins/a.yaml': `${plugin('a')}---\n${plugin('b')}`,
      'plugins/b.yaml': '',
    };
    assert.deepEqual(await kept(before, { ...before, 'plugins/a.yaml': `${plugin('a')}---\n[` }), ['a', 'b']);
  });

  test('a good file that no longer declares something keeps nothing of it', async () => {
    assert.deepEqual(await kept(platform('a', 'b'), { ...platform('a', 'b'), 'plugins/b.yaml': '# gone\n' }), []);
  });

  test('a broken JSON file that never named us is nobody else’s trouble, but keeps what came from it', async () => {
    const json = JSON.stringify({
      apiVersion: 'espalier.dev/v1alpha1',
      kind: 'Plugin',
      metadata: { name: 'j' },
      spec: { kind: 'manifests', source: { git: { path: 'apps/a' } } },
    });
    const after = { ...platform('a'), 'j.json': '{"a": [' };
    assert.deepEqual((await read(after)).faults, []);
    assert.deepEqual(await kept({ ...platform('a'), 'j.json': json }, after), ['j']);
  });
});

describe('a broken overlay', () => {
  const overlay = 'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: a}\nspec: {timeout: 9m}\n';
  const before = { ...platform('a', 'b'), 'clusters/prod/x.yaml': overlay };

  test('holds what it changed, and the others go on', async () => {
    for (const text of ['{{', `${overlay}  [`, 'oops']) {
      const after = { ...before, 'clusters/prod/x.yaml': text };
      assert.deepEqual(await kept(before, after), ['a'], text);
      assert.ok(namesOf(await read(after)).includes('b'));
    }
  });

  test('keeps the object that it names from being installed without it', async () => {
    const found = await read({ ...before, 'clusters/prod/x.yaml': `${overlay}x: [` });
    assert.deepEqual(namesOf(found), ['b']);
    assert.deepEqual(found.refused, [
      { key: 'espalier.dev/Plugin/espalier-system/a', why: "clusters/prod/x.yaml can't be read" },
    ]);
  });

  test('holds the add-on whose addon.yaml is broken, under its old name too', async () => {
    const addon = { 'manifests/vip/a.yaml': 'a: 1\n', 'manifests/vip/addon.yaml': 'name: virtual-ip\n' };
    const after = { ...addon, 'manifests/vip/addon.yaml': 'name: [' };
    assert.deepEqual(await kept(addon, after), ['virtual-ip']);
    assert.deepEqual(await kept({ 'manifests/vip/a.yaml': 'a: 1\n' }, after), ['vip']);
    assert.deepEqual(namesOf(await read(after)), []);
  });
});

describe('D2: a declared path is renamed', () => {
  test('the plugin that still names the old path is refused at that line and stays', async () => {
    const after = platform('a', 'b');
    delete after['apps/a/config.yaml'];
    after['apps/new/config.yaml'] = 'a: 1\n';
    const found = await read(after);
    assert.deepEqual(
      found.faults.map((fault) => [fault.code, fault.file, fault.line, fault.path]),
      [['SourceMissing', 'plugins/a.yaml', 8, '/spec/source/git/path']],
    );
    assert.deepEqual(namesOf(found), ['b']);
    assert.deepEqual(await kept(platform('a', 'b'), after), ['a']);
  });

  test('the plugin that names the new path goes on with another content', async () => {
    const after = {
      ...platform('a'),
      'plugins/a.yaml': plugin('a').replace('apps/a', 'apps/new'),
      'apps/new/config.yaml': 'a: 1\n',
    };
    assert.deepEqual((await read(after)).faults, []);
    assert.deepEqual(await kept(platform('a'), after), []);
  });

  test('a declaration that moves to another file is the same object', async () => {
    const after: Texts = { ...platform('a'), 'moved/a.yaml': plugin('a') };
    delete after['plugins/a.yaml'];
    const [before, now] = [await read(platform('a')), await read(after)];
    assert.deepEqual(
      now.objects.map((one) => [one.key, one.inputs]),
      before.objects.map((one) => [one.key, one.inputs]),
    );
  });
});

describe('S27: an object with wrong fields', () => {
  const cases: [title: string, more: string, line: number, message: RegExp][] = [
    ['an interval of "x"', 'poll: "x"', 9, /spec\.poll .*duration such as/],
    ['a negative time-out', 'timeout: -5m', 9, /spec\.timeout must be a duration.*"-5m"/],
    ['an unknown field', 'dependOn: []', 9, /spec\.dependOn is not a field.*did you mean dependsOn/],
    ['a wrong type', 'values: [1]', 9, /spec\.values is a list, expected a mapping/],
  ];
  for (const [title, more, line, message] of cases) {
    test(`${title} refuses that plugin alone, with file, line and what was expected`, async () => {
      const found = await read({ ...platform('a', 'b'), 'plugins/a.yaml': plugin('a', more) });
      assert.deepEqual(namesOf(found), ['b']);
      const [fault] = found.faults;
      assert.deepEqual(
        [found.faults.length, fault?.file, fault?.line, fault?.object],
        [1, 'plugins/a.yaml', line, 'Plugin espalier-system/a'],
      );
      assert.match(fault?.message ?? '', message);
      assert.deepEqual(await kept(platform('a', 'b'), { ...platform('a', 'b'), 'plugins/a.yaml': plugin('a', more) }), [
        'a',
      ]);
    });
  }

  test('all its faults are told at once', async () => {
    const found = await read({
      ...platform('a'),
      'plugins/a.yaml': plugin('a', 'timeout: never\n  depend: []\n  enabled: maybe'),
    });
    assert.deepEqual(
      found.faults.map((fault) => fault.line),
      [9, 10, 11],
    );
  });

  test('an object with fields that only the cluster writes is refused', async () => {
    const text = plugin('a').replace('name: a', 'name: a\n  uid: x\n  finalizers: [example.com/x]');
    const found = await read({ ...platform('a'), 'plugins/a.yaml': text });
    assert.deepEqual(
      found.faults.map((fault) => [fault.line, fault.path]),
      [
        [5, '/metadata/uid'],
        [6, '/metadata/finalizers'],
      ],
    );
  });

  test('status and an empty creation time, which generators leave behind, are dropped', async () => {
    const text = plugin('a').replace('name: a', 'name: a\n  creationTimestamp: null');
    const found = await read({ ...platform('a'), 'plugins/a.yaml': `${text}status: {phase: Ready}\n` });
    assert.deepEqual(found.faults, []);
    assert.deepEqual(Object.keys(found.objects[0]?.object ?? {}).sort(), ['apiVersion', 'kind', 'metadata', 'spec']);
    assert.deepEqual(found.objects[0]?.object.metadata, { name: 'a', namespace: 'espalier-system' });
  });

  test('a kind for the whole cluster has no namespace', async () => {
    const text =
      'apiVersion: espalier.dev/v1alpha1\nkind: Extension\nmetadata: {name: x, namespace: y}\nspec: {versions: [{app: "1", source: {oci: {url: "oci://r.example/x"}}}]}\n';
    assert.deepEqual(
      (await read({ 'x.yaml': text })).faults.map((fault) => fault.path),
      ['/metadata/namespace'],
    );
    const good = await read({ 'x.yaml': text.replace(', namespace: y', '') });
    assert.equal(good.objects[0]?.object.metadata.namespace, undefined);
  });
});

describe('S5: names that reach for the prototype', () => {
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    test(`the key ${key} refuses that plugin alone, in values, metadata and overlays`, async () => {
      const hostile = [
        plugin('a', `values: {deep: [{${key}: {polluted: 1}}]}`),
        plugin('a').replace('name: a', `name: a\n  ${key}: {polluted: 1}`),
        `${plugin('a')}${key}: {polluted: 1}\n`,
      ];
      for (const text of hostile) {
        const found = await read({ ...platform('a', 'b'), 'plugins/a.yaml': text });
        assert.deepEqual(namesOf(found), ['b']);
        assert.match(found.faults[0]?.message ?? '', new RegExp(`the key ${key} is not allowed`));
      }
      const overlay = `apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: a}\nspec: {values: {${key}: {polluted: 1}}}\n`;
      const found = await read({ ...platform('a', 'b'), 'clusters/prod/a.yaml': overlay });
      assert.deepEqual(namesOf(found), ['b']);
      assert.equal(({} as Record<string, unknown>).polluted, undefined);
    });
  }

  test('an object that is called like one is an object', async () => {
    const found = await read({
      'apps/a/x.yaml': 'a: 1\n',
      'c.yaml': plugin('constructor').replace('apps/constructor', 'apps/a'),
    });
    assert.deepEqual(namesOf(found), ['constructor']);
  });
});

test('two files that declare one object refuse it at both places, and what is installed stays', async () => {
  const after = { ...platform('a', 'b'), 'copy.yaml': `# copy\n${plugin('a')}` };
  const found = await read(after);
  assert.deepEqual(found.faults.map(describeFault), [
    'copy.yaml:2:1: Plugin espalier-system/a: declared again at plugins/a.yaml:1: remove one of the two',
    'plugins/a.yaml:1:1: Plugin espalier-system/a: declared again at copy.yaml:2: remove one of the two',
  ]);
  assert.deepEqual(namesOf(found), ['b']);
  assert.deepEqual(await kept(platform('a', 'b'), after), ['a']);
});

test('a document without a name keeps what came from its file', async () => {
  const after = { ...platform('a', 'b'), 'plugins/a.yaml': plugin('a').replace('name: a', 'nam: a') };
  assert.deepEqual((await read(after)).uncertainFiles, ['plugins/a.yaml']);
  assert.deepEqual(await kept(platform('a', 'b'), after), ['a']);
});
