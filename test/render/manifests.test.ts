import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countTurns } from '../support/turns.ts';
import { config, names, render } from './given.ts';

const rejects = (files: Record<string, string | Uint8Array>, expected: object, over = {}) =>
  assert.rejects(render('manifests', files, over), expected);

describe('plain manifests', () => {
  it('are every YAML file of a folder and below, and nothing else', async () => {
    const rendered = await render('manifests', {
      'app/b.yaml': config('b'),
      'app/deep/er/a.yml': `${config('a1')}---\n${config('a2')}---\n# nothing\n`,
      'app/README.md': 'kind: {{ nothing',
      'app/config.json': '{"kind": "Nothing"}',
      'app/.hidden.yaml': config('hidden'),
      'app/.github/workflow.yaml': 'on: push',
      'other/c.yaml': config('c'),
    });
    assert.deepEqual(names(rendered), ['ConfigMap a1', 'ConfigMap a2', 'ConfigMap b']);
    assert.deepEqual(rendered.warnings, []);
  });

  it('may be one file, or the whole repository', async () => {
    const files = { 'app/a.yaml': config('a'), 'b.yaml': config('b') };
    assert.deepEqual(names(await render('manifests', files, { path: 'app/a.yaml' })), ['ConfigMap a']);
    assert.deepEqual(names(await render('manifests', files, { path: '.' })), ['ConfigMap a', 'ConfigMap b']);
  });

  it('may be lists of objects, typed or not', async () => {
    const list = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: s}}
- apiVersion: v1
  kind: ConfigMapList
  items:
  - metadata: {name: c}
`;
    const rendered = await render('manifests', { 'app/a.yaml': list });
    assert.deepEqual(names(rendered), ['ConfigMap c', 'Secret s']);
    assert.equal(rendered.objects[1]?.apiVersion, 'v1');
  });

  it('come out as they were written, to the last field', async () => {
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'n' },
      spec: { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { a: 'b' } } }] }] },
    };
    const rendered = await render('manifests', { 'app/a.yaml': JSON.stringify(policy) });
    assert.deepEqual(rendered.objects, [policy]);
  });

  it('say nothing by null in metadata', async () => {
    const text = config('c').replace(
      'name: c',
      'name: c\n  creationTimestamp: null\n  namespace: null\n  labels: null',
    );
    assert.deepEqual((await render('manifests', { 'app/a.yaml': text })).objects[0]?.metadata, { name: 'c' });
  });

  it('may be none at all', async () => {
    assert.deepEqual(await render('manifests', { 'app/README.md': 'x' }), { objects: [], warnings: [] });
  });

  it('warn of integers that would be rounded', async () => {
    const { warnings } = await render('manifests', { 'app/a.yaml': `${config('c')}  big: 9007199254740993\n` });
    assert.deepEqual(warnings, [
      'app/a.yaml:1: ConfigMap c has an integer beyond 2^53 (9007199254740992), which is rounded; quote it if it is text',
    ]);
  });
});

describe('manifests that are refused say file and line', () => {
  for (const [situation, text, message] of [
    ['broken YAML', `${config('a')}---\na: [\n`, /^app\/a\.yaml:\d+:\d+: not valid YAML/],
    ['a list at the top', `${config('a')}---\n- a\n`, /^app\/a\.yaml:8 is not a Kubernetes object/],
    ['plain text', 'hello', /^app\/a\.yaml:1 is not a Kubernetes object/],
    ['no kind', 'apiVersion: v1\nmetadata: {name: a}\n', /^app\/a\.yaml:1 has no valid kind/],
    ['no apiVersion', 'kind: ConfigMap\nmetadata: {name: a}\n', /has no valid apiVersion/],
    ['no metadata', 'apiVersion: v1\nkind: ConfigMap\n', /has no metadata/],
    ['no name', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n', /has no valid metadata\.name/],
    [
      'a name that is a path',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ../../x}\n',
      /has no valid metadata\.name/,
    ],
    [
      'a namespace that is a path',
      'apiVersion: v1\nkind: A\nmetadata: {name: a, namespace: a/b}\n',
      /no valid metadata\.namespace/,
    ],
    ['an API version that is a path', 'apiVersion: ../v1\nkind: A\nmetadata: {name: a}\n', /no valid apiVersion/],
    [
      'generateName alone',
      'apiVersion: v1\nkind: Job\nmetadata: {generateName: a-}\n',
      /generateName; what is applied again/,
    ],
    [
      'a number as a label',
      'apiVersion: v1\nkind: A\nmetadata: {name: a, labels: {version: 1.10}}\n',
      /labels "version" must be text, but is a number; quote it/,
    ],
    [
      'a kustomization',
      'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: {name: a}\n',
      /set spec\.kind: kustomize/,
    ],
    ['__proto__', 'apiVersion: v1\nkind: A\nmetadata: {name: a}\n__proto__: {x: 1}\n', /"__proto__" is refused/],
    [
      'lists in lists in lists',
      `{kind: List, items: [{kind: List, items: [{kind: List, items: [{kind: List, items: []}]}]}]}`,
      /lists inside of lists/,
    ],
  ] as const) {
    it(situation, () => rejects({ 'app/a.yaml': text }, { message }));
  }

  it('an object that is there twice, with both places', async () => {
    const files = { 'app/a.yaml': config('a'), 'app/b.yaml': `---\n\n${config('x')}---\n${config('a')}` };
    await rejects(files, {
      code: 'RenderFailed',
      message: 'ConfigMap a is declared twice: app/a.yaml:1 and app/b.yaml:10',
    });
  });

  it('a folder that does not exist', async () => {
    await rejects({ 'b/a.yaml': config('a') }, { code: 'SourceMissing', message: /"app" at commit c0ffee/ });
  });

  it('text that is not UTF-8', () =>
    rejects({ 'app/a.yaml': new Uint8Array([0x61, 0xff]) }, { message: /app\/a\.yaml is not UTF-8/ }));
});

describe('hostile manifests', () => {
  it('may not be links; links that are no manifests do no harm', async () => {
    await rejects(
      { 'app/a.yaml': '-> ../../etc/passwd' },
      { message: /app\/a\.yaml is a link, which is not followed/ },
    );
    await rejects({ 'app/more': '-> ../other' }, { message: /is a link/ });
    const rendered = await render('manifests', { 'app/a.yaml': config('a'), 'app/README.md': '-> ../README.md' });
    assert.deepEqual(names(rendered), ['ConfigMap a']);
  });

  it('are bounded in files, bytes, objects and document size', async () => {
    const files = { 'app/a.yaml': config('a'), 'app/b.yaml': config('b') };
    await rejects(files, { code: 'RenderRefused', message: /more than 1 files/ }, { limits: { files: 1 } });
    await rejects(files, { code: 'RenderRefused', message: /more than 99 bytes/ }, { limits: { inputBytes: 99 } });
    await rejects(
      { 'app/a.yaml': `${config('a')}---\n${config('b')}` },
      { code: 'RenderRefused' },
      { limits: { objects: 1 } },
    );
    await rejects(
      files,
      { code: 'RenderRefused', message: /larger than any object/ },
      { limits: { documentBytes: 20 } },
    );
  });

  it('stop when nobody waits any more', async () => {
    await rejects({ 'app/a.yaml': config('a') }, { code: 'Aborted' }, { signal: AbortSignal.abort() });
  });

  it('of many megabytes leave time for others while they are parsed', async () => {
    const large = Array.from({ length: 6000 }, (_, index) => config(`c${index}`, `a: "${'x'.repeat(400)}"`)).join(
      '---\n',
    );
    // The first time it would be the compiler's work that is counted.
    await render('manifests', { 'app/a.yaml': large });
    const counted = countTurns();
    const rendered = await render('manifests', { 'app/a.yaml': large });
    const { turns, longest } = counted();
    assert.equal(rendered.objects.length, 6000);
    assert.ok(turns >= 5, `${turns} turns`);
    assert.ok(longest < 0.5, `${longest} of the work in one go`);
  });
});
