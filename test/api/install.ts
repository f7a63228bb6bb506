import type { Condition, KubeObject } from '../../src/api/index.ts';
import { API_VERSION, customResourceDefinition, findCondition, isTrue, KINDS } from '../../src/api/index.ts';
import type { KubeClient } from '../../src/cluster/client.ts';
import { eventually } from '../support/eventually.ts';

/** Installs our kinds and returns once the API server serves them. Any number of tests may do so at once. */
export async function installKinds(client: KubeClient): Promise<void> {
  const crds = KINDS.map(customResourceDefinition);
  await Promise.all(crds.map((crd) => client.apply(crd, { fieldManager: 'espalier-test', force: true })));
  await Promise.all(
    crds.map(({ metadata, spec }) => eventually(() => assertServed(client, metadata.name, spec.names.plural))),
  );
}

async function assertServed(client: KubeClient, name: string, plural: string): Promise<void> {
  assertEstablished(
    await client.get({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name }),
  );
  const { status } = await client.raw({ method: 'GET', path: `/apis/${API_VERSION}/${plural}`, query: { limit: '1' } });
  if (status !== 200) throw new Error(`a list of ${plural} is answered with ${status}`);
}

function assertEstablished(crd: KubeObject | undefined): void {
  const status = crd?.status as { conditions?: Condition[] } | undefined;
  const flaw = findCondition(status?.conditions, 'NonStructuralSchema');
  if (flaw !== undefined) throw new Error(flaw.message);
  if (!isTrue(status?.conditions, 'Established')) throw new Error(`${crd?.metadata.name} is not established`);
}
