import { API_VERSION, type KubeObject } from '../src/api/index.ts';

/** The declaration of a Plugin, and the folder of manifests that it is made of. */
export function pluginFiles(name: string, objects: readonly KubeObject[], dependsOn: string[] = []) {
  const spec = {
    kind: 'manifests',
    source: { git: { path: `apps/${name}` } },
    ...(dependsOn.length === 0 ? {} : { dependsOn: dependsOn.map((one) => ({ name: one })) }),
  };
  const plugin = { apiVersion: API_VERSION, kind: 'Plugin', metadata: { name }, spec };
  return {
    [`plugins/${name}.yaml`]: document(plugin),
    [`apps/${name}/objects.yaml`]: objects.map((object) => document(object)).join('---\n'),
  };
}

/** Block style as people write it: it costs a parser more than JSON. */
function document(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return `${JSON.stringify(value)}\n`;
  const lines = Array.isArray(value)
    ? value.map((item) => `${indent}- ${document(item, `${indent}  `).trimStart()}`)
    : Object.entries(value).map(([key, item]) => `${indent}${JSON.stringify(key)}:${nested(item, indent)}`);
  return lines.join('');
}

function nested(value: unknown, indent: string): string {
  const hasParts = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  return hasParts ? `\n${document(value, `${indent}  `)}` : ` ${JSON.stringify(value)}\n`;
}

export function configMap(name: string, text: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text, more: 'x'.repeat(300) } };
}

export function deployment(name: string, text: string): KubeObject {
  const labels = { app: name };
  const container = { name: 'main', image: 'registry.example.com/app:1', env: [{ name: 'TEXT', value: text }] };
  const spec = {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { terminationGracePeriodSeconds: 0, containers: [container] },
    },
  };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec };
}

/** A chart as many are: a Deployment with its account, configuration and Service. */
export function smallChart(): Record<string, string> {
  const labels = 'app.kubernetes.io/name: {{ .Release.Name }}';
  return {
    'Chart.yaml': 'apiVersion: v2\nname: small\nversion: 1.0.0\nappVersion: "1.0"\n',
    'values.yaml': 'text: none\nreplicas: 1\nimage: registry.example.com/small:1\n',
    'templates/_helpers.tpl': `{{- define "small.labels" -}}\n${labels}\nhelm.sh/chart: "{{ .Chart.Name }}-{{ .Chart.Version }}"\n{{- end }}\n`,
    'templates/account.yaml':
      'apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {{- include "small.labels" . | nindent 4 }}\n',
    'templates/config.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n  labels: {{- include "small.labels" . | nindent 4 }}\ndata:\n  text: {{ .Values.text | quote }}\n',
    'templates/service.yaml': `apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  selector: {${labels}}\n  ports: [{port: 80}]\n`,
    'templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: {{- include "small.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {${labels}}}
  template:
    metadata:
      labels: {${labels}}
      annotations: {checksum/config: {{ .Values.text | sha256sum }}}
    spec:
      serviceAccountName: {{ .Release.Name }}
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: {{ .Values.image }}, envFrom: [{configMapRef: {name: {{ .Release.Name }}}}]}]
`,
  };
}
