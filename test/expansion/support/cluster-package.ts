import { chartTgz } from '../../charts/support/archives.ts';

const SERVICE_ACCOUNT = `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  greeting: {{ .Values.greeting | default "none" | quote }}
  global: {{ .Values.global | toJson | quote }}
`;

export interface PackageWish {
  name: string;
  version?: string;
  /** Names of charts, each of one ConfigMap; with @ a version. */
  charts?: readonly string[];
  hooks?: readonly ('pre-install' | 'post-install' | 'post-cluster-ready')[];
  /** More of expansion.yaml. */
  fields?: Record<string, unknown>;
}

/** The files of a package, from its own top. */
export function packageFiles(wish: PackageWish): Record<string, string | Uint8Array> {
  const { name, version = 'v1.0', charts = [], hooks = [], fields = {} } = wish;
  const archives = charts.map((chart) => {
    const [chartName = '', chartVersion = '0.1.0'] = chart.split('@');
    const bytes = chartTgz(chartName, chartVersion, { 'templates/cm.yaml': SERVICE_ACCOUNT });
    return [`${chartName}-${chartVersion}.tgz`, bytes] as const;
  });
  const expansion = {
    expansion_name: name,
    expansion_version: version,
    charts: archives.map(([file]) => file),
    hooks,
    ...fields,
  };
  return {
    'expansion.yaml': JSON.stringify(expansion, null, 2),
    ...Object.fromEntries(archives.map(([file, bytes]) => [`charts/${file}`, bytes])),
    ...Object.fromEntries(hooks.map((hook) => [`hooks/${hook}`, `#!/bin/sh\necho ${hook} ${version}\n`])),
  };
}

/** The same in a folder. */
export function packageAt(folder: string, wish: PackageWish): Record<string, string | Uint8Array> {
  return Object.fromEntries(Object.entries(packageFiles(wish)).map(([path, data]) => [`${folder}/${path}`, data]));
}

/** For a commit that takes these files out. */
export function removed(files: Readonly<Record<string, unknown>>): Record<string, null> {
  return Object.fromEntries(Object.keys(files).map((path) => [path, null]));
}
