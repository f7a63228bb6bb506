import { chart } from '../../support/charts.ts';
import { configMap, type Fixture } from './fixture.ts';

const NOTES = `Release {{ .Release.Name }} of {{ .Chart.Name }}, revision {{ .Release.Revision }}.
{{- if .Release.IsInstall }}
Welcome.
{{- else }}
Welcome back.
{{- end }}
`;

/** Files, tpl, named templates, capabilities, the facts of the release and lookup, with notes for the user. */
export const TEMPLATES: Fixture = {
  name: 'templates',
  source: 'git',
  beside: [
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'neighbour' },
      data: { text: 'looked up' },
    }),
  ],
  steps: () => [
    { chart: chart('templates', FILES, { appVersion: '7.1' }), values: { title: 'hello {{ .Release.Name }}' } },
    {
      chart: chart('templates', FILES, { appVersion: '7.2', version: '1.0.1' }),
      values: { title: 'bye {{ .Chart.AppVersion }}', list: ['c'], extra: { nested: { here: true } } },
    },
  ],
};

const FILES: Record<string, string> = {
  'values.yaml': 'title: none\nlist: [a, b]\nextra: {}\n',
  'README.md': '# not rendered\n',
  '.helmignore': 'files/ignored.txt\n',
  'files/one.conf': 'listen = 80\n',
  'files/two.conf': 'listen = 81\n# {{ not a template }}\n',
  'files/ignored.txt': 'never seen',
  'files/script.sh': '#!/bin/sh\necho "$1"\n',
  'templates/_helpers.tpl': [
    '{{- define "templates.name" -}}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 }}{{- end -}}',
    '{{- define "templates.block" -}}',
    'first: {{ .Values.title | quote }}',
    'second: {{ tpl .Values.title . | quote }}',
    '{{- end -}}',
    '',
  ].join('\n'),
  'templates/named.yaml': [
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata:',
    '  name: {{ include "templates.name" . }}',
    'data:',
    '  {{- include "templates.block" . | nindent 2 }}',
    '  {{- range $index, $item := .Values.list }}',
    '  item-{{ $index }}: {{ $item | upper }}',
    '  {{- end }}',
    '  {{- with .Values.extra.nested }}',
    '  nested: {{ toJson . | quote }}',
    '  {{- end }}',
    '',
  ].join('\n'),
  'templates/files.yaml': [
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata: {name: files}',
    'data:',
    '{{ (.Files.Glob "files/*.conf").AsConfig | indent 2 }}',
    '  script.sh: {{ .Files.Get "files/script.sh" | quote }}',
    '  ignored: {{ .Files.Get "files/ignored.txt" | quote }}',
    '  lines: {{ .Files.Lines "files/two.conf" | toJson | quote }}',
    '---',
    'apiVersion: v1',
    'kind: Secret',
    'metadata: {name: files}',
    'data:',
    '{{ (.Files.Glob "files/*.conf").AsSecrets | indent 2 }}',
    '',
  ].join('\n'),
  'templates/facts.yaml': configMap('facts', [
    'release: "{{ .Release.Name }} {{ .Release.Namespace }} {{ .Release.Service }}"',
    'revision: "{{ .Release.Revision }} {{ .Release.IsInstall }} {{ .Release.IsUpgrade }}"',
    'kubernetes: {{ .Capabilities.KubeVersion.Version }} {{ .Capabilities.KubeVersion.Minor }}',
    'helm: {{ .Capabilities.HelmVersion.Version }}',
    'jobs: "{{ .Capabilities.APIVersions.Has "batch/v1" }} {{ .Capabilities.APIVersions.Has "batch/v1/Job" }}"',
    'nothing: "{{ .Capabilities.APIVersions.Has "nothing.example.com/v1" }}"',
    'application: {{ .Chart.AppVersion | quote }}',
    'template: {{ .Template.Name }}',
  ]),
  'templates/lookup.yaml': configMap('lookup', [
    'neighbour: {{ (lookup "v1" "ConfigMap" .Release.Namespace "neighbour").data.text | quote }}',
    'missing: {{ lookup "v1" "ConfigMap" .Release.Namespace "missing" | toJson | quote }}',
    'own: {{ (lookup "v1" "ConfigMap" .Release.Namespace "facts") | empty | quote }}',
    'many: {{ (lookup "v1" "ConfigMap" .Release.Namespace "").items | empty | quote }}',
  ]),
  'templates/nothing.yaml': '{{- /* nothing but a comment */ -}}\n',
  'templates/never.yaml':
    '{{- if .Values.never }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: never}\n{{- end }}\n',
  'templates/NOTES.txt': NOTES,
};
