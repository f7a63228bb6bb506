import type { Imported, Left } from './imported.ts';

export type ImportFrom = 'kubegems' | 'flux' | 'argocd' | 'helm';

/** How the tool that ruled so far lets go, without taking anything with it. */
const STOP: Readonly<Record<ImportFrom, readonly string[]>> = {
  flux: [
    'Stop Flux: `flux suspend kustomization --all -A` and `flux suspend helmrelease --all -A` (each namespace by itself where `-A` is refused).',
    'Once the Sync is ready, delete the HelmReleases and Kustomizations **while they are suspended**: suspended ones take nothing with them. Then `flux uninstall`.',
  ],
  argocd: [
    'Stop Argo CD: `kubectl -n argocd scale statefulset argocd-application-controller --replicas=0` (and `deployment argocd-applicationset-controller`, where there is one).',
    'Once the Sync is ready, take the finalizer off each Application (`kubectl -n argocd patch application NAME --type merge -p \'{"metadata":{"finalizers":null}}\'`) and delete it: **with the finalizer its objects go too**. Then uninstall Argo CD.',
  ],
  helm: [
    'From now on nobody runs `helm upgrade` on these releases: take it out of your pipelines.',
    'Once the Sync is ready there is nothing to take away. `helm list`, `helm history` and `helm get` go on working.',
  ],
  kubegems: [
    'Stop the installer of KubeGems: `kubectl -n kubegems-installer scale deployment kubegems-installer --replicas=0`.',
    'Once the Sync is ready, take the finalizers off the Plugins of KubeGems (`kubectl -n NAMESPACE patch plugins.plugins.kubegems.io NAME --type merge -p \'{"metadata":{"finalizers":null}}\'`) and delete them: **with their finalizers the releases go too**.',
  ],
};

const TITLES: Readonly<Record<ImportFrom, string>> = {
  flux: 'Flux',
  argocd: 'Argo CD',
  helm: 'Helm',
  kubegems: 'KubeGems',
};

/** IMPORT.md: what is here, what is missing, and what comes next. */
export function importPage(from: ImportFrom, { plugins, origins, left }: Imported, url: string | undefined): string {
  const rows = plugins.map(({ metadata: { name, namespace }, spec }) => {
    const key = `${namespace}/${name}`;
    return `| ${cell(key)} | ${cell(String(spec.kind))} | ${cell(origins.get(key) ?? '')} |`;
  });
  const [stop = '', done = ''] = STOP[from];
  return [
    `# Imported from ${TITLES[from]}`,
    '',
    'Written by `espalier import`. Nothing in the cluster was changed. Delete this page when you are through with it.',
    '',
    ...(plugins.length === 0
      ? ['Nothing could be carried over.']
      : ['| Plugin | kind | it was |', '|---|---|---|', ...rows]),
    '',
    '## What could not be carried over',
    '',
    ...(left.length === 0 ? ['Everything was.'] : leftLines(left)),
    '',
    '## What to do next',
    '',
    '1. Go through the list above, and through the files. Commit them.',
    '2. See that nothing would change: `espalier plan . -n espalier-system`. What is taken over is marked `>`, with our labels and nothing else below it.',
    `3. ${stop}`,
    '4. Apply the Sync:',
    '',
    '   ```yaml',
    '   apiVersion: espalier.dev/v1alpha1',
    '   kind: Sync',
    '   metadata: {name: platform, namespace: espalier-system}',
    '   spec:',
    '     repository:',
    `       url: ${url ?? 'https://git.example.com/platform/addons.git'}`,
    '       ref: {branch: main}',
    '   ```',
    '',
    '5. Wait until it is ready: `espalier tree platform -n espalier-system`. What waits for your consent is shown by `espalier approve platform`.',
    `6. ${done}`,
    '',
  ].join('\n');
}

function leftLines(left: readonly Left[]): string[] {
  const objects = [...new Set(left.map(({ object }) => object))];
  return objects.flatMap((object) => [
    `- **${object}**`,
    ...left
      .filter((one) => one.object === object)
      .map(({ field, why }) => `  - ${field === '' ? '' : `\`${field}\`: `}${oneLine(why)}`),
  ]);
}

function cell(text: string): string {
  return oneLine(text).replaceAll('|', '\\|');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
