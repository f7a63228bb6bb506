import { API_VERSION } from '../../../../src/api/index.ts';
import { configMap, pluginYaml } from '../../../support/agent.ts';

/** Declaration of an all-in-one Plugin of the chart at `charts/all`. */
export function allInOne(values: Record<string, unknown>, spec: Record<string, unknown> = {}): string {
  return pluginYaml('all', 'charts/all', { kind: 'template', values, ...spec });
}

/** A chart that renders what its value `plugins` says: by name, the spec of each. Those with `off` are left out. */
export const ALL_IN_ONE: Readonly<Record<string, string>> = {
  'charts/all/Chart.yaml': 'apiVersion: v2\nname: all\nversion: 1.0.0\n',
  'charts/all/values.yaml': 'plugins: {}\n',
  'charts/all/templates/plugins.yaml': `{{- range $name, $plugin := .Values.plugins }}
{{- if not $plugin.off }}
---
apiVersion: ${API_VERSION}
kind: Plugin
metadata:
  name: {{ $name }}
  {{- with $plugin.namespace }}
  namespace: {{ . }}
  {{- end }}
spec:
  kind: {{ $plugin.kind | default "manifests" }}
  source:
    git:
      path: {{ $plugin.path | default (printf "apps/%s" $name) }}
      {{- if $plugin.template }}
      template: true
      {{- end }}
  {{- with $plugin.spec }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
`,
};

/** A ConfigMap of the same name as its folder, for each. */
export function apps(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`apps/${name}/objects.yaml`, configMap(name)]));
}

/** Plugins of those folders, as values. */
export function plugins(...names: string[]): { plugins: Record<string, Record<string, unknown>> } {
  return { plugins: Object.fromEntries(names.map((name) => [name, {}])) };
}
