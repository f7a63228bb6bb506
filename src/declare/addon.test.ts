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

  test('may call its dependencies by that name', () => {
    const part = compile('dependencies: [a]\n');
    assert.deepEqual((part.value.spec as Record<string, unknown>).dependsOn, [{ name: 'a' }]);
    assert.equal(part.locate('/spec/dependsOn/0/name').line, 1);
    assert.match(compile('dependsOn: [a]\ndependencies: [b]\n').faults[0]?.message ?? '', /keep one of the two/);
  });

  test('takes what its schema says of a parameter where the parameters say nothing', () => {
    const schema = 'schema:\n  properties:\n    a: {type: integer, default: 1}\n    b:\n      default: 2\n';
    const part = compile(`parameters: {a: 7}\n${schema}`);
    assert.deepEqual((part.value.spec as Record<string, unknown>).defaults, { a: 7, b: 2 });
    assert.equal(part.locate('/spec/defaults/a').line, 1);
    assert.equal(part.locate('/spec/defaults/b').line, 6);
    assert.equal(part.locate('/spec/schema/properties/a/type').line, 4);
  });

  test('is refused where the schema gives a parameter a default that it does not allow', () => {
    const schema =
      'schema:\n  properties:\n    a: {type: integer, default: x}\n    b: {properties: {c: {enum: [1], default: 2}}}\n';
    const told = (text: string) =>
      compile(text).faults.map(({ line, column, message }) => `${line}:${column}: ${message}`);
    const b = '4:46: parameter b.c is the number 2, expected 1';
    assert.deepEqual(told(schema), ['3:33: parameter a is "x", expected a whole number', b]);
    assert.deepEqual(told(`${schema}parameters: {a: 5}\n`), [b]);
  });

  test('tells all that is wrong with addon.yaml at once, each with its place', () => {
    const text = [
      'name: Vip',
      'namespace: {create: "yes"}',
      'class: sytem',
      'depends: [a]',
      'parameters: {ip: 5, port: 80}',
      'schema:',
      '  properties:',
      '    ip: {type: string}',
      '    port: {type: integer, minimum: 1024}',
      '  requird: [ip]',
    ].join('\n');
    const told = (faults: readonly { line: number; column: number; message: string }[]) =>
      faults.map(({ line, column, message }) => `${line}:${column}: ${message}`);
    assert.deepEqual(told(compile(text).faults), [
      '1:7: name is "Vip", expected text that matches ^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
      '2:21: namespace.create is "yes", expected true or false',
      '2:1: namespace.name is missing, expected text',
      '3:8: class is "sytem", expected one of system, default, accessible, custom (did you mean system?)',
      '4:1: depends is not known; did you mean dependsOn?',
      '10:3: schema.requird is not a keyword that can be checked; did you mean required?',
    ]);
    assert.deepEqual(told(compile(text.replace('requird', 'required')).faults).slice(5), [
      '5:18: parameter ip is the number 5, expected text',
      '5:27: parameter port is the number 80, expected a whole number of at least 1024',
    ]);
  });
});
