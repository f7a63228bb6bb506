import assert from 'node:assert/strict';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { chartOf } from '../../src/addons/chart-of.ts';
import { parameterSets } from '../../src/addons/parameter-sets.ts';
import { prove } from '../../src/addons/prove.ts';
import { readAddon } from '../../src/addons/read-addon.ts';
import { folderTree } from '../../src/git/foldertree.ts';
import { espalier } from '../cli/support/espalier.ts';
import { writeFiles } from '../mirror/support/platform.ts';
import { tempDir } from '../support/tempdir.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples', 'repo', 'manifests');

/** An add-on with everything that is read otherwise in a chart. */
const TRAPS: Record<string, string> = {
  'addon.yaml': `name: traps
class: system
namespace: {name: trapped, create: true}
dependsOn: [network, {name: base, namespace: infra}]
parameters:
  # How many there are.
  replicas: 2
  ports: [80, 12345678]
  on: true
  deep: {limit: 5, name: x, none: null}
schema:
  properties:
    replicas: {type: integer, minimum: 1, maximum: 9}
    ports: {type: array, items: {type: integer}}
    on: {type: boolean}
    deep: {type: object}
    zone: {type: string, default: eu}
    note: {type: string}
`,
  '_lib.tpl':
    '{{ define "all" }}{{ .zone }}-{{ $.replicas }}-{{ .Release.Name }}{{ end }}{{ define "part" }}{{ .root.zone }}/{{ .limit }}{{ end }}',
  'a.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  all: {{ include "all" . | quote }}
  part: {{ include "part" (dict "root" $ "limit" .deep.limit) | quote }}
  ports: "{{ range $i, $p := .ports }}{{ $i }}={{ $p }}{{ if gt . 100 }}!{{ end }}{{ $.zone }} {{ end }}"
  text: {{ tpl (.Files.Get "text.txt") . | quote }}
  same: {{ .Files.Get "text.txt" | quote }}
  password: {{ randAlphaNum 12 | quote }}
  many: {{ if gt .replicas 1 }}"many"{{ else }}"one"{{ end }}
  until: "{{ range until .replicas }}x{{ end }}"
  params: {{ dict "deep" .deep "ports" .ports | toJson | quote }}
  {{- with .deep }}
  deep: "{{ .limit }} {{ .name }} {{ $.replicas }}"
  {{- end }}
{{- $root := . }}
{{- if .on }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b-{{ $root.zone }}}
{{- with .note }}
data: {note: {{ . | quote }}}
{{- end }}
{{- end }}
`,
  'text.txt': 'in {{ .zone }} of {{ .Release.Name }}: {{ .replicas }} up to {{ .deep.limit }}\n',
};

describe('espalier addon to-chart', () => {
  test('makes a chart that renders the same objects, which --check finds again, until somebody changes one of the two', async (t) => {
    const dir = await writeFiles(await tempDir(t), prefixed('traps', TRAPS));
    const args = ['addon', 'to-chart', join(dir, 'traps'), '-o', join(dir, 'chart')];
    const { code, stdout, stderr } = await espalier(args);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stderr, /the same 2 objects, compared with 1[0-2] sets of parameters/);
    assert.match(stderr, /kind: helm\n {2}source:\n {4}git:\n {6}path: charts\/traps\n/);
    assert.match(
      stderr,
      /^note: ConfigMap a: data\.password is another each time it is rendered, and is not compared$/m,
    );
    assert.match(
      stderr,
      /^note: .*\/addon\.yaml: deep\.limit is taken for a whole number by default: where it may be 0\.5/m,
    );
    const read = (path: string) => readFile(join(dir, 'chart', path), 'utf8');
    assert.equal(
      await read('Chart.yaml'),
      `apiVersion: v2
name: traps
description: The add-on traps.
type: application
version: 0.1.0
annotations:
  espalier.dev/class: system
  espalier.dev/namespace: trapped
  espalier.dev/depends-on: network, infra/base
`,
    );
    assert.equal(
      await read('values.yaml'),
      '# How many there are.\nreplicas: 2\nports: [80, 12345678]\n"on": true\ndeep: {limit: 5, name: x}\nzone: eu\n',
    );
    assert.deepEqual(JSON.parse(await read('values.schema.json')).properties.replicas.maximum, 9);
    assert.equal(await read('text.txt'), TRAPS['text.txt']);
    assert.match(await read('templates/_lib.tpl'), /\{\{ \.Values\.zone \}\}-\{\{ int \$\.Values\.replicas \}\}/);

    const again = await espalier(args);
    assert.deepEqual([again.code, /is not empty; name another folder/.test(again.stderr)], [64, true], again.stderr);
    await writeFile(join(dir, 'wrong.yaml'), 'replicas: 99\nforeign: 1\n');
    const wrong = await espalier([...args, '--check', '--values', join(dir, 'wrong.yaml')]);
    assert.match(wrong.stderr, /wrong\.yaml: parameter foreign is not known.*; parameter replicas is the number 99/);
    const nothing = await espalier([...args, '--check', '-o', join(dir, 'traps')]);
    assert.deepEqual([nothing.code, /traps has no Chart\.yaml: it is no chart$/m.test(nothing.stderr)], [64, true]);
    assert.equal((await espalier([...args, '--check'])).code, 0);
    await writeFile(join(dir, 'chart', 'text.txt'), 'other\n');
    const other = await espalier([...args, '--check']);
    assert.equal(other.code, 1);
    assert.match(
      other.stdout,
      /^with the defaults: ConfigMap a: data\.same is "in .*" in the add-on, "other\\n" in the chart$/m,
    );
  });

  test('writes nothing where an object would differ, and says which and how', async (t) => {
    const dir = await writeFiles(await tempDir(t), {
      'x/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {chart: {{ .Chart.Name }}}\n',
    });
    const { code, stdout, stderr } = await espalier(['addon', 'to-chart', join(dir, 'x'), '-o', join(dir, 'chart')]);
    assert.equal(code, 1);
    assert.equal(stdout, 'with the defaults: ConfigMap a: data.chart is "addon" in the add-on, "x" in the chart\n');
    assert.match(stderr, /nothing is written: .* In the add-on write int/);
    await writeFile(join(dir, 'x', 'a.yaml'), 'kind: {{ fail "never" }}\n');
    const never = await espalier(['addon', 'to-chart', join(dir, 'x'), '-o', join(dir, 'chart')]);
    assert.equal(never.code, 1);
    assert.match(never.stdout, /\/x\/a\.yaml:1:9: never \(with the defaults\)\n$/);
    assert.deepEqual(await readdir(dir), ['x']);
  });

  test('with the faults of an add-on, its places come first and nothing is rendered', async (t) => {
    const dir = await writeFiles(await tempDir(t), {
      'x/a.yaml': 'a: {{ .x }}\n',
      'x/addon.yaml': 'clas: system\nparameters: {x: 1}\nschema: {properties: {x: {type: string}}}\n',
    });
    for (const args of [['check'], ['to-chart', '-o', join(dir, 'chart')]]) {
      const { code, stdout } = await espalier(['addon', args[0] ?? '', join(dir, 'x'), ...args.slice(1)]);
      assert.equal(code, 1);
      assert.deepEqual(stdout.replaceAll(`${dir}/`, '').trimEnd().split('\n'), [
        'x/addon.yaml:1:7: clas is not known; did you mean class?',
        'x/addon.yaml:2:17: parameter x is the number 1, expected text',
      ]);
    }
  });

  test('check tells what fails in templates, and what they ask for that nothing gives', async (t) => {
    const dir = await writeFiles(await tempDir(t), {
      'x/a.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: "{{ .zone }}", b: "{{ .deep.b }}"}\n',
      'x/addon.yaml': 'parameters: {deep: {b: x}}\n',
      'x/templates/web.conf': '',
    });
    const fine = await espalier(['addon', 'check', join(dir, 'x')]);
    assert.deepEqual([fine.code, fine.stdout], [0, '']);
    assert.match(fine.stderr, /x\/a\.yaml:4:15: \.zone is no parameter of it: it must come from the Sync's values/);
    assert.match(fine.stderr, /x\/templates\/web\.conf can't be read by \.Files\.Get, .*: rename it$/m);
    await writeFile(join(dir, 'x', 'a.yaml'), 'a: 1\nb: {{ .deep.b | nofn }}\n');
    const broken = await espalier(['addon', 'check', join(dir, 'x')]);
    assert.equal(broken.code, 1);
    assert.match(broken.stdout, /\/x\/a\.yaml:2:1: function "nofn" not defined \(with the defaults\)\n$/);
    await writeFile(join(dir, 'x', 'a.yaml'), 'apiVersion: v1\nkind: {{ .deep.b }}\nkind: y\n');
    const twice = await espalier(['addon', 'check', join(dir, 'x'), '-o', 'json']);
    assert.deepEqual(JSON.parse(twice.stdout), {
      faults: [
        {
          ...{ file: 'a.yaml', line: 1, column: 1 },
          message: 'line 3 of what it renders is not valid YAML: duplicated mapping key: kind: y (with the defaults)',
        },
      ],
    });
  });

  test('check takes no fault from a value that it made up itself, but from one that the schema allows', async (t) => {
    const dir = await writeFiles(await tempDir(t), {
      'x/a.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ if ne .mode "a" }}{{ fail "mode is a" }}{{ end }}x}\n',
      'x/addon.yaml': 'parameters: {mode: a}\n',
    });
    const guessed = await espalier(['addon', 'check', join(dir, 'x')]);
    assert.deepEqual([guessed.code, guessed.stdout], [0, ''], guessed.stdout);
    assert.match(
      guessed.stderr,
      /x\/a\.yaml:4:34: mode is a \(with mode: "ax"\): if that is no value for it, say in the/,
    );
    await writeFile(
      join(dir, 'x', 'addon.yaml'),
      'parameters: {mode: a}\nschema: {properties: {mode: {enum: [a, b]}}}\n',
    );
    const allowed = await espalier(['addon', 'check', join(dir, 'x')]);
    assert.equal(allowed.code, 1);
    assert.match(allowed.stdout, /x\/a\.yaml:4:34: mode is a \(with mode: "b"\)\n$/);
  });

  test('a file beside that is a link is a fault: templates would read nothing in its place', async (t) => {
    const dir = await writeFiles(await tempDir(t), { 'x/a.yaml': 'a: 1\n', 'x/addon.yml': '', 'x/addon.yaml': '' });
    const check = () => espalier(['addon', 'check', join(dir, 'x')]);
    assert.match((await check()).stdout, /x\/addon\.yml:1:1: addon\.yaml stands beside it and counts: keep one/);
    await symlink('/etc/hostname', join(dir, 'x', 'app.conf'));
    const { code, stdout } = await check();
    assert.equal(code, 1);
    assert.match(stdout, /x\/app\.conf:1:1: .*is a link, which is not followed; put the files themselves there\n$/);
  });

  test('show tells what each parameter is and is by default, wherever that is said', async (t) => {
    const dir = await writeFiles(await tempDir(t), {
      ...prefixed('x', TRAPS),
      'x/addon.yaml':
        `${TRAPS['addon.yaml']}    more: {properties: {a: {type: string}, b: {type: integer, default: 3}}}\n`.replace(
          'schema:',
          '  more: {a: b}\n  loose: [1]\nschema:\n  additionalProperties: true',
        ),
    });
    const { stdout } = await espalier(['addon', 'show', join(dir, 'x'), '-o', 'json']);
    const { parameters, ...rest } = JSON.parse(stdout) as { parameters: Record<string, unknown>[] };
    assert.deepEqual(
      parameters.map(({ name, type, default: preset }) => [name, type, preset]),
      [
        ['replicas', 'integer', 2],
        ['ports', 'array of integer', [80, 12345678]],
        ['on', 'boolean', true],
        ['deep', 'object', { limit: 5, name: 'x', none: null }],
        ['zone', 'string', 'eu'],
        ['note', 'string', undefined],
        ['more.a', 'string', 'b'],
        ['more.b', 'integer', 3],
        ['loose', undefined, [1]],
      ],
    );
    assert.deepEqual(rest, {
      ...{ name: 'traps', class: 'system', namespace: 'trapped', dependsOn: ['network', 'infra/base'] },
      ...{ templates: ['_lib.tpl', 'a.yaml'], files: ['text.txt'] },
    });
  });

  test('what is a chart already is told', async (t) => {
    const dir = await writeFiles(await tempDir(t), { 'x/Chart.yaml': 'name: x\n', 'x/templates/a.yaml': 'a: 1\n' });
    const { code, stdout } = await espalier(['addon', 'check', join(dir, 'x')]);
    assert.equal(code, 1);
    assert.match(stdout, /x:1:1: this is a chart or a kustomization, and no add-on/);
  });

  for (const name of ['app-operator', 'gpu-device-plugin', 'rdma-device-plugin', 'metrics-server', 'vip'])
    test(`the example ${name} becomes a chart that renders the same`, async () => {
      const addon = await readAddon(folderTree(join(EXAMPLES, name)), name);
      assert.deepEqual(addon.faults, []);
      const chart = chartOf(addon, '0.1.0');
      assert.ok('files' in chart);
      const integer =
        'addon.yaml: priority is taken for a whole number by default: where it may be 0.5, say type: number in the schema';
      assert.deepEqual(chart.notes, name === 'vip' ? [integer] : []);
      const sets = parameterSets(addon.defaults, addon.schema).slice(0, 2);
      const { proofs } = await prove(addon, chart.files, sets);
      for (const { title, objects, differences } of proofs)
        assert.deepEqual([title, objects > 0, differences], [title, true, []]);
    });
});

function prefixed(folder: string, files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}
