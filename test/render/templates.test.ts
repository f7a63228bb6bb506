import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../src/api/index.ts';
import { config, names, render } from './given.ts';
import { listener } from './listener.ts';
import { SCALARS } from './scalars.ts';

const CONFIG = (data: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n${data}\n`;

/** The data of the one object that a template makes. */
async function data(text: string, values: JsonObject = {}, more: Record<string, string> = {}, over = {}) {
  const { objects } = await render('template', { 'app/c.yaml': CONFIG(text), ...more }, { values, ...over });
  assert.equal(objects.length, 1);
  return objects[0]?.data as Record<string, unknown>;
}

describe('Go templates with bare parameters', () => {
  it('take their parameters from the values, by . and by $', async () => {
    const text = '  a: {{ .name | quote }}\n  b: {{ range .list }}{{ . }}-{{ $.name }} {{ end }}\n  c: {{ .deep.er }}';
    const values = { name: 'web', list: ['x', 'y'], deep: { er: 'z' } };
    assert.deepEqual(await data(text, values), { a: 'web', b: 'x-web y-web', c: 'z' });
  });

  it('render without any values', async () => {
    assert.deepEqual(await data('  a: "{{ .missing | default "none" }}"'), { a: 'none' });
  });

  it('see integers as integers, as templates outside of Helm do', async () => {
    const text = '  a: "{{ .big }} {{ gt .n 2 }} {{ until .n }} {{ .f }} {{ index .l 0 }} {{ .deep.port }}"';
    const values = { big: 12345678, n: 3, f: 1.5, l: [1000000], deep: { port: 8080 } };
    assert.deepEqual(await data(text, values), { a: '12345678 true [0 1 2] 1.5 1000000 8080' });
  });

  it('read the files beside them, which are no templates', async () => {
    const files = { 'app/keepalived.conf': 'state {{ BACKUP }}\n', 'app/scripts/run.sh': '#!/bin/sh' };
    const text = '  a: {{ .Files.Get "keepalived.conf" | quote }}\n  b: {{ $.Files.Get "scripts/run.sh" | quote }}';
    assert.deepEqual(await data(text, { name: 'x' }, files), { a: 'state {{ BACKUP }}\n', b: '#!/bin/sh' });
  });

  it('define templates for each other', async () => {
    const files = {
      'app/_lib.tpl': '{{ define "hello" }}hello {{ .who }}{{ end }}',
      'app/empty.yaml': '{{ define "x" }}X{{ end }}',
    };
    const text =
      '  a: {{ include "hello" (dict "who" .name) }}\n  b: {{ template "x" }}{{ define "y" }}Y{{ end }}{{ template "y" }}';
    assert.deepEqual(await data(text, { name: 'you' }, files), { a: 'hello you', b: 'XY' });
  });

  it('know release, cluster and all values, unless a parameter has that name', async () => {
    const text =
      '  a: "{{ .Release.Name }} {{ .Release.Namespace }} {{ .Capabilities.KubeVersion.Minor }} {{ .Capabilities.APIVersions.Has "x.io/v1" }} {{ .Values.n }}"';
    const over = { facts: { kubernetesVersion: 'v1.33.1', apiVersions: ['x.io/v1'] }, targetNamespace: 'apps' };
    assert.deepEqual(await data(text, { n: 1 }, {}, over), { a: 'web apps 33 true 1' });
    assert.deepEqual(await data('  a: "{{ .Release }}"', { Release: 'stable' }), { a: 'stable' });
  });

  it('leave addon.yaml alone, which says what the folder is', async () => {
    assert.deepEqual(await data('  a: b', {}, { 'app/addon.yaml': 'name: {{ nothing\n' }), { a: 'b' });
  });

  it('make many objects, in folders too, and none where a condition says so', async () => {
    const files = {
      'app/a.yaml': '{{ range .names }}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: {{ . }}}\n{{ end }}',
      'app/sub/b.yaml': `{{ if .on }}${config('b')}{{ end }}`,
      'app/sub/c.yaml': `{{ if .off }}${config('c')}{{ end }}`,
    };
    const rendered = await render('template', files, { values: { names: ['x', 'z'], on: true, off: false } });
    assert.deepEqual(names(rendered), ['ConfigMap b', 'Secret x', 'Secret z']);
  });

  it('may be none at all', async () => {
    assert.deepEqual(await render('template', { 'app/notes.txt': 'x' }), { objects: [], warnings: [] });
  });

  it('take any name of file or parameter for what it is', async () => {
    const files = { 'app/we"ird {{ name }}.yaml': config('odd') };
    const rendered = await render('template', files, { values: { '"}} {{ .x }}': 1, 'a.b/c': { __: 2 } } });
    assert.deepEqual(names(rendered), ['ConfigMap odd']);
  });

  it('read scalars of YAML as Helm does', async () => {
    const pairs = SCALARS.map(
      ([text], index) => `  k${index}: {{ fromYaml ${JSON.stringify(`a: ${text}`)} | toJson | quote }}`,
    );
    const found = await data(pairs.join('\n'));
    for (const [index, [text, value]] of SCALARS.entries()) {
      assert.deepEqual(JSON.parse(String(found[`k${index}`])), { a: value }, text);
    }
  });
});

describe('templates that fail say where, by the names of the repository', () => {
  for (const [situation, text, message] of [
    ['does not parse', 'a: 1\nb: {{ .x\n', /^rendering app: .*app\/c\.yaml:[23]/],
    ['fails', 'a: 1\n{{ fail "no such thing" }}\n', /app\/c\.yaml:2:\d+.*no such thing/],
    ['reaches into nothing', '\n\na: {{ .x.y.z }}\n', /app\/c\.yaml:3:\d+.*\.x\.y\.z.*nil pointer/],
    ['makes broken YAML', 'a: b: c\n', /app\/c\.yaml.*mapping values are not allowed/],
    [
      'makes no object',
      'apiVersion: v1\nkind: A\n',
      /^app\/c\.yaml \(A\)? ?has no metadata|app\/c\.yaml.*has no metadata/,
    ],
  ] as const) {
    it(`one that ${situation}`, async () => {
      await assert.rejects(render('template', { 'app/c.yaml': text }), (error: Error) => {
        assert.match(error.message, message);
        assert.ok(!/_body|espalier-render/.test(error.message), error.message);
        return true;
      });
    });
  }

  it('two that make the same object, with both files', async () => {
    const files = { 'app/a.yaml': config('c'), 'app/b.yaml': config('c') };
    await assert.rejects(render('template', files), {
      message: 'ConfigMap c is declared twice: app/a.yaml and app/b.yaml',
    });
  });

  it('but never by a value that is secret (S17)', async () => {
    const values = { password: 'canary-secret', n: 1 };
    for (const text of [
      '{{ fail .password }}',
      'a: {{ .password | fail }}',
      '{{ .password | b64enc | fail }}',
      '{{ .n | required .password }}{{ fail .password }}',
      'a: {{ .password }}: b: c',
    ]) {
      await assert.rejects(
        render('template', { 'app/c.yaml': text }, { values, secrets: ['canary-secret'] }),
        (error: Error) => {
          const said = `${error.message} ${JSON.stringify(error)} ${String(error.cause)}`;
          return !/canary|Y2FuYXJ5/.test(said);
        },
      );
    }
  });
});

describe('hostile templates', () => {
  it('reach no cluster, network, environment or file', async (t) => {
    const server = await listener(t);
    const text = `  a: {{ lookup "v1" "Secret" "kube-system" "" | toJson | quote }}
  b: {{ getHostByName "localhost" | quote }}
  c: {{ .Files.Get "/etc/passwd" | quote }}
  d: {{ .Files.Get "../../../../etc/passwd" | quote }}`;
    assert.deepEqual(await data(text, { url: server.url }), { a: '{}', b: '', c: '', d: '' });
    for (const call of ['env "HOME"', 'expandenv "$HOME"', 'readFile "/etc/passwd"']) {
      await assert.rejects(render('template', { 'app/c.yaml': `a: {{ ${call} }}` }), { message: /not defined/ });
    }
    assert.equal(server.connections(), 0);
  });

  it('may not be links', async () => {
    await assert.rejects(render('template', { 'app/a.yaml': '-> /etc/passwd' }), { code: 'RenderRefused' });
    const beside = { 'app/a.yaml': config('a'), 'app/l.conf': '-> /etc/passwd' };
    await assert.rejects(render('template', beside), { message: /app\/l\.conf is a link/ });
    const readme = { 'app/a.yaml': config('a'), 'app/README.md': '-> ../README.md' };
    assert.deepEqual(names(await render('template', readme)), ['ConfigMap a']);
  });

  it('bring no schema that Helm would follow, and no subchart', async () => {
    const files = {
      'app/values.schema.json': '{"$ref": "file:///dev/zero"}',
      'app/charts/x/templates/a.txt': 'x',
      'app/a.yaml': config('a'),
    };
    const rendered = await render('template', files, { values: { a: 1 } });
    assert.deepEqual(names(rendered), ['ConfigMap a']);
    assert.equal(rendered.warnings.length, 2);
  });

  for (const [situation, text] of [
    ['memory', 'a: {{ repeat 1000000000 "xxxxxxxxxxxxxxxx" | sha256sum }}'],
    ['a list without end', '{{ range until 2000000000 }}{{ end }}'],
  ] as const) {
    it(`that ask for ${situation} end with an error`, async () => {
      await assert.rejects(render('template', { 'app/c.yaml': text }, { limits: { timeoutMs: 60_000 } }), {
        message: /needed more than 1024 MiB of memory/,
      });
    });
  }

  it('that never end are stopped at the deadline (R9)', async () => {
    const text = '{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}';
    const started = performance.now();
    await assert.rejects(render('template', { 'app/c.yaml': text }, { limits: { timeoutMs: 700 } }), {
      code: 'ProgramTimedOut',
    });
    assert.ok(performance.now() - started < 20_000);
  });

  it('that print without end are stopped', async () => {
    const text = '{{ range until 100000 }}{{ repeat 1000 "# 0123456789\\n" }}{{ end }}';
    await assert.rejects(
      render('template', { 'app/c.yaml': text }, { limits: { outputBytes: 1_000_000 } }),
      (error: Error & { code?: string }) =>
        ['ProgramOutputTooLarge', 'RenderRefused', 'RenderFailed'].includes(error.code ?? ''),
    );
  });

  it('that include themselves end with an error', async () => {
    const text = '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}';
    await assert.rejects(render('template', { 'app/c.yaml': text }), { code: /Render(Failed|Refused)/ });
  });

  it('that change their parameters change them for nobody else', async () => {
    const files = {
      'app/a.yaml': `{{ $_ := set . "name" "evil" }}{{ $_ := set .deep "x" "evil" }}${config('a')}`,
      'app/b.yaml': CONFIG('  a: {{ .name }}\n  b: {{ .deep.x }}'),
    };
    for (const n of [1, 'text']) {
      const { objects } = await render('template', files, { values: { name: 'good', deep: { x: 'good' }, n } });
      const found = objects.find((object) => object.metadata.name === 'c')?.data;
      assert.deepEqual(found, { a: 'good', b: 'good' });
    }
  });
});
