import { API_VERSION } from '../../../../src/api/index.ts';
import type { ServedRepository } from '../../../../src/playground/gitserver.ts';
import { configMap, pluginYaml } from '../../../support/agent.ts';
import { commitFiles } from '../../../support/gitserver.ts';

/** A platform in three commits: installed, changed in every way that moves or removes something, and mostly removed. */
export interface ThreeActs {
  group: string;
  commits: [install: string, change: string, removal: string];
}

/** On a branch, and with an API group, of its own, so that many runs share a repository and a control plane. */
export async function writeThreeActs(repository: ServedRepository, branch: string, group: string): Promise<ThreeActs> {
  const install = await commitFiles(
    repository,
    {
      'plugins/operator.yaml': pluginYaml('operator', 'apps/operator', { deletion: { crds: 'delete' } }),
      'plugins/app.yaml': pluginYaml('app', 'apps/app', { dependsOn: [{ name: 'operator' }] }),
      'plugins/web.yaml': pluginYaml('web', 'apps/web'),
      'apps/operator/crd.yaml': definition(group),
      'apps/operator/config.yaml': configMap('operator'),
      'apps/app/widget.yaml': widget(group, 'small'),
      'apps/app/kept.yaml': configMap('kept'),
      'apps/app/dropped.yaml': configMap('dropped'),
      'apps/app/moved.yaml': configMap('moved'),
      'apps/web/config.yaml': configMap('web'),
    },
    { branch },
  );
  const change = await commitFiles(
    repository,
    {
      'apps/operator/config.yaml': configMap('operator', { a: '2' }),
      'apps/app/widget.yaml': widget(group, 'large'),
      'apps/app/dropped.yaml': null,
      // To another plugin, which is renamed in the same commit.
      'apps/app/moved.yaml': null,
      'apps/web/moved.yaml': configMap('moved'),
      'plugins/web.yaml': null,
      'plugins/site.yaml': pluginYaml('site', 'apps/web'),
    },
    { branch },
  );
  const removal = await commitFiles(
    repository,
    { 'plugins/operator.yaml': null, 'plugins/app.yaml': null },
    { branch },
  );
  return { group, commits: [install, change, removal] };
}

function definition(group: string): string {
  const schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'string' } } } } };
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
}

function widget(group: string, size: string): string {
  return JSON.stringify({ apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'one' }, spec: { size } });
}

export const KINDS = (group: string) => [
  { apiVersion: API_VERSION, kind: 'Sync' },
  { apiVersion: API_VERSION, kind: 'Plugin' },
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: `${group}/v1`, kind: 'Widget' },
];
