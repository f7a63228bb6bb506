import { chart } from '../../support/charts.ts';
import { configMap, type Fixture } from './fixture.ts';

export const RANDOM_FILES: Record<string, string> = {
  'values.yaml': 'text: one\n',
  'templates/token.yaml':
    'apiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {token: {{ randAlphaNum 24 | quote }}, fixed: {{ .Values.text }}}\n',
  'templates/certificate.yaml': [
    '{{- $ca := genCA "example-ca" 365 }}',
    '{{- $cert := genSignedCert "web.example.com" nil (list "web.example.com") 365 $ca }}',
    'apiVersion: v1',
    'kind: Secret',
    'metadata: {name: certificate}',
    'type: kubernetes.io/tls',
    'data:',
    '  ca.crt: {{ $ca.Cert | b64enc }}',
    '  tls.crt: {{ $cert.Cert | b64enc }}',
    '  tls.key: {{ $cert.Key | b64enc }}',
    '',
  ].join('\n'),
  'templates/stamp.yaml': configMap('stamp', [
    'now: {{ now | unixEpoch | quote }}',
    'uuid: {{ uuidv4 | quote }}',
    'text: {{ .Values.text }}',
  ]),
  // Charts that mean well keep what they made before.
  'templates/kept.yaml': [
    '{{- $old := lookup "v1" "Secret" .Release.Namespace "kept" }}',
    'apiVersion: v1',
    'kind: Secret',
    'metadata: {name: kept}',
    'data:',
    '  password: {{ if $old }}{{ index $old.data "password" }}{{ else }}{{ randAlphaNum 12 | b64enc }}{{ end }}',
    '',
  ].join('\n'),
};

/** Values that no two renderings have in common. */
export const RANDOM: Fixture = {
  name: 'random',
  source: 'repository',
  steps: () => [
    { chart: chart('random', RANDOM_FILES) },
    { chart: chart('random', RANDOM_FILES), values: { text: 'two' } },
  ],
  random: [
    'Secret token /data/token',
    'Secret certificate /data/ca.crt',
    'Secret certificate /data/tls.crt',
    'Secret certificate /data/tls.key',
    'ConfigMap stamp /data/now',
    'ConfigMap stamp /data/uuid',
    'Secret kept /data/password',
  ],
};
