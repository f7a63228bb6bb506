import type { TestContext } from 'node:test';
import type { KubeObject } from '../../src/api/index.ts';
import type { KubeClient } from '../../src/cluster/client.ts';
import { eventually } from '../support/eventually.ts';

const KINDS: readonly [group: string, version: string, kind: string, plural: string][] = [
  ['helm.toolkit.fluxcd.io', 'v2', 'HelmRelease', 'helmreleases'],
  ['kustomize.toolkit.fluxcd.io', 'v1', 'Kustomization', 'kustomizations'],
  ['source.toolkit.fluxcd.io', 'v1', 'GitRepository', 'gitrepositories'],
  ['source.toolkit.fluxcd.io', 'v1', 'HelmRepository', 'helmrepositories'],
  ['argoproj.io', 'v1alpha1', 'Application', 'applications'],
  ['argoproj.io', 'v1alpha1', 'AppProject', 'appprojects'],
];

/** The kinds of Flux and Argo CD, as little of them as takes any object. They go with the test, objects and all. */
export async function serveForeignKinds(t: Pick<TestContext, 'after'>, client: KubeClient): Promise<void> {
  const definitions = KINDS.map(definition);
  await Promise.all(definitions.map((one) => client.apply(one, { fieldManager: 'foreign', force: true })));
  t.after(async () => {
    for (const { apiVersion, kind, metadata } of definitions)
      await client.delete({ apiVersion, kind, name: metadata.name });
  });
  for (const [group, version, , plural] of KINDS)
    await eventually(async () => {
      const { status } = await client.raw({ method: 'GET', path: `/apis/${group}/${version}/${plural}` });
      if (status !== 200) throw new Error(`${plural} are not served: ${status}`);
    });
}

function definition([group, version, kind, plural]: (typeof KINDS)[number]): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}
