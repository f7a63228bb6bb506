import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../api/index.ts';
import { kindOf } from './kinds.ts';
import { portTemplates } from './port-templates.ts';

const DEFAULTS: JsonObject = { name: 'web', port: 80, ports: [80, 443], on: true, deep: { er: 'z', n: 1 }, half: 0.5 };

function port(text: string, { defaults = DEFAULTS, schema }: { defaults?: JsonObject; schema?: JsonObject } = {}) {
  const ported = portTemplates([{ path: 'a.yaml', text }], kindOf(schema, defaults));
  assert.ok('texts' in ported, JSON.stringify(ported));
  return ported.texts[0];
}

describe('templates of an add-on as those of a chart', () => {
  for (const [situation, text, expected] of [
    ['a parameter', '{{ .name | quote }}', '{{ .Values.name | quote }}'],
    ['one inside of another', 'a: {{- .deep.er -}} b', 'a: {{- .Values.deep.er -}} b'],
    ['one that nothing is known of', '{{ .what.is.it }}', '{{ .Values.what.is.it }}'],
    ['what Helm gives', '{{ .Release.Name }}{{ $.Files.Get "a" }}', '{{ .Release.Name }}{{ $.Files.Get "a" }}'],
    ['the values by that name', '{{ .Values.port }}', '{{ .Values.port }}'],
    [
      'text, comments and strings',
      '.name {{/* .name */}}{{ ".name" }}{{ `.name` }}',
      '.name {{/* .name */}}{{ ".name" }}{{ `.name` }}',
    ],
    [
      'the dot by $ in a range',
      '{{ range .ports }}{{ $.name }}{{ end }}',
      '{{ range .Values.ports }}{{ $.Values.name }}{{ end }}',
    ],
    [
      'fields of another dot',
      '{{ with .deep }}{{ .er }}{{ else }}{{ .name }}{{ end }}',
      '{{ with .Values.deep }}{{ .er }}{{ else }}{{ .Values.name }}{{ end }}',
    ],
    [
      'a variable',
      '{{ $x := . }}{{ $y := .deep }}{{ $x.name }}{{ $y.er }}',
      '{{ $x := . }}{{ $y := .Values.deep }}{{ $x.Values.name }}{{ $y.er }}',
    ],
    ['the dot with the root', '{{ with $ }}{{ .name }}{{ end }}', '{{ with $ }}{{ .Values.name }}{{ end }}'],
    [
      'a condition',
      '{{ if and .on (eq .name "web") }}x{{ else if .half }}y{{ end }}',
      '{{ if and .Values.on (eq .Values.name "web") }}x{{ else if .Values.half }}y{{ end }}',
    ],
    [
      'all parameters',
      '{{ toYaml . }}{{ . | toJson }}{{ index $ "name" }}',
      '{{ toYaml .Values }}{{ .Values | toJson }}{{ index $.Values "name" }}',
    ],
    [
      'parentheses',
      '{{ (.deep).er }}{{ (index .deep "er") }}',
      '{{ (.Values.deep).er }}{{ (index .Values.deep "er") }}',
    ],
    [
      'a text that is a template',
      '{{ tpl "x" . }}',
      '{{ tpl "x" (merge (set (set (deepCopy .Values) "port" (int .Values.port)) "deep" (set (deepCopy .Values.deep) "n" (int .Values.deep.n))) (dict "Files" .Files "Values" .Values "Release" .Release "Capabilities" .Capabilities "Chart" .Chart "Template" .Template)) }}',
    ],
  ] as const) {
    test(`${situation}`, () => assert.equal(port(text), expected));
  }

  test('a text that is a template finds integers whose names no dot can name', () => {
    const expected = '{{ tpl "x" (merge (set (deepCopy $.Values) "my-port" (int (index $.Values "my-port"))) (dict ';
    assert.ok(port('{{ tpl "x" $ }}', { defaults: { 'my-port': 80 } })?.startsWith(expected));
  });

  test('a parameter that is called like something of Helm is that parameter', () => {
    assert.equal(port('{{ .Release }}', { defaults: { Release: 'stable' } }), '{{ .Values.Release }}');
  });
});

describe('integers, which Helm reads as floats, are made integers', () => {
  for (const [situation, text, expected] of [
    ['printed', '{{ .port }}', '{{ int .Values.port }}'],
    ['compared', '{{ if gt .port 1 }}x{{ end }}', '{{ if gt (int .Values.port) 1 }}x{{ end }}'],
    ['piped', '{{ .port | quote }}', '{{ int .Values.port | quote }}'],
    ['deep', '{{ with .deep }}{{ .n }}{{ end }}', '{{ with .Values.deep }}{{ int .n }}{{ end }}'],
    [
      'in a list',
      '{{ range $i, $p := .ports }}{{ $i }}{{ . }}{{ $p }}{{ end }}',
      '{{ range $i, $p := .Values.ports }}{{ $i }}{{ int . }}{{ int $p }}{{ end }}',
    ],
    [
      'taken out of a list',
      '{{ index .ports 0 }}{{ eq (index .ports 1) 1 }}',
      '{{ index .Values.ports 0 | int }}{{ eq (int (index .Values.ports 1)) 1 }}',
    ],
    ['kept in a variable', '{{ $p := .port }}{{ $p }}', '{{ $p := int .Values.port }}{{ $p }}'],
    [
      'in a list with a default, and out of one',
      '{{ range (default (list) .ports) }}{{ . }}{{ end }}{{ first .ports }}{{ get .deep "n" | quote }}',
      '{{ range (default (list) .Values.ports) }}{{ int . }}{{ end }}{{ first .Values.ports | int }}{{ get .Values.deep "n" | int | quote }}',
    ],
    [
      'not where a whole number is made of it anyway',
      '{{ int .port }}{{ add .port 1 }}{{ if .port }}{{ end }}',
      '{{ int .Values.port }}{{ add .Values.port 1 }}{{ if .Values.port }}{{ end }}',
    ],
    ['not a list as a whole', '{{ toYaml .ports }}', '{{ toYaml .Values.ports }}'],
  ] as const) {
    test(situation, () => assert.equal(port(text), expected));
  }

  test('by the schema, before what the default looks like', () => {
    const schema = {
      properties: { a: { type: 'integer' }, b: { type: 'number', default: 1 }, c: { type: ['integer', 'string'] } },
    };
    assert.equal(
      port('{{ .a }}{{ .b }}{{ .c }}', { defaults: { b: 1, c: 2 }, schema }),
      '{{ int .Values.a }}{{ .Values.b }}{{ .Values.c }}',
    );
  });
});

describe('definitions', () => {
  for (const [situation, text, expected] of [
    [
      'with the parameters',
      '{{ define "l" }}{{ .name }}{{ $.port }}{{ .Files.Get "x" }}{{ end }}{{ include "l" . }}',
      '{{ define "l" }}{{ .Values.name }}{{ int $.Values.port }}{{ .Files.Get "x" }}{{ end }}{{ include "l" . }}',
    ],
    [
      'with something else',
      '{{ define "l" }}{{ .er }}{{ .n }}{{ end }}{{ template "l" .deep }}',
      '{{ define "l" }}{{ .er }}{{ int .n }}{{ end }}{{ template "l" .Values.deep }}',
    ],
    [
      'with both in a dict',
      '{{ define "l" }}{{ .root.name }}{{ .n }}{{ end }}{{ include "l" (dict "root" $ "n" .port) }}',
      '{{ define "l" }}{{ .root.Values.name }}{{ .n }}{{ end }}{{ include "l" (dict "root" $ "n" (int .Values.port)) }}',
    ],
    [
      'with both in a list',
      '{{ define "l" }}{{ $r := index . 0 }}{{ $r.name }}{{ index . 1 }}{{ end }}{{ include "l" (list . "x") }}',
      '{{ define "l" }}{{ $r := index . 0 }}{{ $r.Values.name }}{{ index . 1 }}{{ end }}{{ include "l" (list . "x") }}',
    ],
    [
      'with more over the parameters',
      '{{ define "l" }}{{ .name }}{{ .part }}{{ end }}{{ include "l" (mergeOverwrite (deepCopy .) (dict "part" "x")) }}',
      '{{ define "l" }}{{ .Values.name }}{{ .part }}{{ end }}{{ include "l" (mergeOverwrite (deepCopy .) (dict "part" "x")) }}',
    ],
    [
      'with more beside the parameters',
      '{{ define "l" }}{{ .name }}{{ .part }}{{ end }}{{ include "l" (merge (dict "part" "x") .) }}',
      '{{ define "l" }}{{ .Values.name }}{{ .part }}{{ end }}{{ include "l" (merge (dict "part" "x") .) }}',
    ],
    [
      'from one to the next',
      '{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ .name }}{{ end }}{{ include "a" $ }}',
      '{{ define "a" }}{{ include "b" . }}{{ end }}{{ define "b" }}{{ .Values.name }}{{ end }}{{ include "a" $ }}',
    ],
    ['as a block', '{{ block "b" .deep }}{{ .er }}{{ end }}', '{{ block "b" .Values.deep }}{{ .er }}{{ end }}'],
    ['that nobody calls', '{{ define "l" }}{{ .name }}{{ end }}', '{{ define "l" }}{{ .name }}{{ end }}'],
    [
      'by the name of a file',
      '{{ include (print $.Template.BasePath "/c.yaml") . | sha256sum }}',
      '{{ include (print $.Template.BasePath "/c.yaml") . | sha256sum }}',
    ],
  ] as const) {
    test(situation, () => assert.equal(port(text), expected));
  }

  test('that are called with the parameters here and with something else there are told, with the places', () => {
    const templates = [
      { path: '_l.tpl', text: '{{ define "l" }}{{ .name }}{{ end }}' },
      { path: 'a.yaml', text: 'a: 1\nb: {{ include "l" . }}' },
      { path: 'b.yaml', text: '{{ include "l" .deep }}' },
    ];
    const ported = portTemplates(templates, kindOf(undefined, DEFAULTS));
    assert.ok('faults' in ported);
    assert.equal(ported.faults.length, 1);
    assert.match(
      ported.faults[0] ?? '',
      /^a\.yaml:2:7: "l" is called with the parameters here, and with something else/,
    );
  });
});

for (const [text, message] of [
  ['a: {{ .x', /^a\.yaml:1:\d+: /],
  ['a: 1\n{{ if .x }}', /^a\.yaml:2:7: if has no end/],
  ['{{ end }}', /^a\.yaml:1:1: there is nothing open/],
  ['{{ (.x }}', /^a\.yaml:1:4: a parenthesis is not closed/],
  ['{{ /* x }}', /^a\.yaml:1:4: this is no Go template/],
  ['{{ .my-port }}', /^a\.yaml:1:7: no name has a dash here: such a parameter is read by \{\{ index \. "my-name" \}\}/],
  [`{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`, /^a\.yaml:1:1: this is nested too deeply$/],
] as const) {
  test(`what Go can't read either is told with its place: ${text.slice(0, 40)}`, () => {
    const ported = portTemplates([{ path: 'a.yaml', text }], kindOf(undefined, {}));
    assert.match('faults' in ported ? (ported.faults[0] ?? '') : '', message);
  });
}
