import { type ChartFiles, chart, subchart } from '../../support/charts.ts';
import { configMap, type Fixture } from './fixture.ts';

const DEPENDENCIES = [
  { name: 'cache', version: '1.0.0', condition: 'cache.enabled', tags: ['backend'] },
  { name: 'queue', version: '1.0.0', tags: ['backend'] },
  { name: 'queue', version: '1.0.0', alias: 'second', condition: 'second.enabled' },
  {
    name: 'store',
    version: '1.0.0',
    'import-values': ['exported', { child: 'inner.deep', parent: 'imported' }],
  },
  { name: 'common', version: '1.0.0' },
];

function shows(name: string): ChartFiles {
  return {
    'values.yaml': `size: 1\nglobal: {own: ${name}}\n`,
    'templates/shows.yaml': configMap(`{{ .Release.Name }}-{{ .Chart.Name }}-{{ .Values.size }}`, [
      'size: {{ .Values.size | quote }}',
      'region: {{ .Values.global.region | default "none" | quote }}',
      'own: {{ .Values.global.own | quote }}',
      'chart: "{{ .Chart.Name }}-{{ .Chart.Version }}"',
      'path: {{ .Template.BasePath }}',
    ]),
  };
}

const BELOW: ChartFiles = {
  ...subchart('cache', shows('cache')),
  ...subchart('queue', shows('queue')),
  ...subchart('store', {
    ...shows('store'),
    'values.yaml':
      'size: 4\nglobal: {}\nexports: {exported: {port: 6379}}\ninner: {deep: {path: /data, mode: "0644"}}\n',
  }),
  ...subchart(
    'common',
    {
      'templates/_labels.tpl':
        '{{- define "common.labels" -}}\napp.kubernetes.io/name: {{ .Chart.Name }}\napp.kubernetes.io/instance: {{ .Release.Name }}\n{{- end -}}\n',
    },
    { type: 'library' },
  ),
};

const OWN: ChartFiles = {
  'values.yaml': [
    'tags: {backend: true}',
    'cache: {enabled: true, size: 2}',
    'second: {enabled: false, size: 3}',
    'global: {region: eu}',
    'gone: {a: 1, b: 2}',
    '',
  ].join('\n'),
  'templates/own.yaml': [
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata:',
    '  name: own',
    '  labels: {{- include "common.labels" . | nindent 4 }}',
    'data:',
    '  port: {{ .Values.port | quote }}',
    '  imported: {{ .Values.imported | toJson | quote }}',
    '  gone: {{ .Values.gone | toJson | quote }}',
    '  subcharts: {{ keys .Subcharts | sortAlpha | join "," | quote }}',
    '',
  ].join('\n'),
};

/** Conditions beat tags; an alias is a chart of its own; a null of the user removes a default. */
export const SUBCHARTS: Fixture = {
  name: 'subcharts',
  source: 'git',
  steps: () => [
    { chart: chart('subcharts', { ...OWN, ...BELOW }, { dependencies: DEPENDENCIES }) },
    {
      chart: chart('subcharts', { ...OWN, ...BELOW }, { dependencies: DEPENDENCIES, version: '1.0.1' }),
      values: {
        tags: { backend: false },
        second: { enabled: true },
        cache: { size: 9 },
        gone: { a: null },
        global: { region: 'us' },
      },
    },
  ],
};
