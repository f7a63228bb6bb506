import type { TestContext } from 'node:test';
import type { KubeObject } from '../../../src/api/index.ts';
import { testClient } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { uniqueName } from '../../support/names.ts';
import { yaml } from './platform.ts';

/** A kind of the test's own: `Widget` in an API group that nobody else uses. Whatever is left of it goes with the test. */
export interface Widgets {
  apiVersion: string;
  /** Name of its CustomResourceDefinition. */
  crd: string;
  definition(): string;
  object(name: string, metadata?: Record<string, unknown>): KubeObject;
  /** Makes one as a person does. An API server that has just established the definition may not serve it yet. */
  make(name: string, namespace: string): Promise<KubeObject>;
  file(name: string, metadata?: Record<string, unknown>): string;
}

export function widgetKind(t: Pick<TestContext, 'after'>): Widgets {
  const group = `${uniqueName('w')}.example.com`;
  const apiVersion = `${group}/v1`;
  const crd = `widgets.${group}`;
  const object: Widgets['object'] = (name, metadata = {}) => ({
    apiVersion,
    kind: 'Widget',
    metadata: { name, ...metadata },
    spec: {},
  });
  t.after(() => clearAway(apiVersion, crd));
  return {
    apiVersion,
    crd,
    definition: () =>
      yaml({
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: crd },
        spec: {
          group,
          scope: 'Namespaced',
          names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            },
          ],
        },
      }),
    object,
    make: (name, namespace) => eventually(() => testClient().create(object(name, { namespace }))),
    file: (name, metadata) => yaml(object(name, metadata) as unknown as Record<string, unknown>),
  };
}

async function clearAway(apiVersion: string, crd: string): Promise<void> {
  const client = testClient();
  try {
    const { items } = await client.list({ apiVersion, kind: 'Widget', metadataOnly: true });
    for (const { metadata } of items) {
      const ref = { apiVersion, kind: 'Widget', namespace: metadata.namespace ?? '', name: metadata.name };
      await client.patch(ref, { metadata: { finalizers: null } }, { type: 'merge' });
    }
  } catch {
    // Not there any more: so much the better.
  }
  await client.delete({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: crd });
}
