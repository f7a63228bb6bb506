import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileAddon } from './addon.ts';
import { parseAlone } from './parse.ts';

function compile(text: string) {
  const { document } = parseAlone(new TextEncoder().encode(text));
  assert.ok(document !== undefined);
  return compileAddon('manifests/vip', { file: 'manifests/vip/addon.yaml', document });
}

describe('an add-on', () => {
  test('without addon.yaml is a Plugin of templated manifests with the name of its folder', () => {
    const { value, file, line } = compileAddon('platform/manifests/vip');
    assert.deepEqual({ file, line }, { file: 'platform/manifests/vip', line: 1 });
    assert.deepEqual(value, {
      apiVersion: 'espalier.dev/v1alpha1',
      kind: 'Plugin',
      metadata: { name: 'vip' },
      spec: { kind: 'manifests', source: { git: { path: 'platform/manifests/vip', template: true } } },
    });
  });

  test('takes name, namespace, class, parameters and dependencies from addon.yaml', () => {
    const text =
      'name: v\nnamespace: net\nclass: system\nparameters: {ip: 1.2.3.4}\ndependsOn: [a, {name: b, namespace: c}]\n';
    const { value } = compile(text);
    assert.deepEqual(value.metadata, { name: 'v', labels: { 'espalier.dev/class': 'system' } });
    assert.deepEqual(value.spec, {
      kind: 'manifests',
      source: { git: { path: 'manifests/vip', template: true } },
      namespace: { name: 'net', create: true },
      defaults: { ip: '1.2.3.4' },
      dependsOn: [{ name: 'a' }, { name: 'b', namespace: 'c' }],
    });
  });

  test('may say more of its namespace', () => {
    assert.deepEqual(
      (compile('namespace: {name: x, create: false}\n').value.spec as Record<string, unknown>).namespace,
      {
        name: 'x',
        create: false,
      },
    );
  });

  test('finds a field of its Plugin where addon.yaml says it', () => {
    const part = compile('# vip\nname: v\nnamespace: net\nparameters:\n  ip: 1\ndependsOn:\n  - a\nclass: x\n');
    const places: [pointer: string, line: number][] = [
      ['/metadata/name', 2],
      ['/metadata/labels/espalier.dev~1class', 8],
      ['/spec/namespace/name', 3],
      ['/spec/defaults/ip', 5],
      ['/spec/dependsOn/0/name', 7],
      ['/spec/source/git/path', 2],
    ];
    for (const [pointer, line] of places) assert.equal(part.locate(pointer).line, line, pointer);
  });

  test('names a field that addon.yaml does not have', () => {
    const [fault] = compile('name: v\ndepends: [a]\n').faults;
    assert.deepEqual([fault?.line, fault?.path], [2, '/depends']);
    assert.match(
      fault?.message ?? '',
      /no field "depends", expected one of name, namespace, parameters, dependsOn, class/,
    );
  });
});
