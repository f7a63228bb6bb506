import {
  API_VERSION,
  type Condition,
  type JsonObject,
  type KubeObject,
  LABEL,
  type PluginStatus,
  refOf,
  type SyncStatus,
} from '../../../src/api/index.ts';
import { testClient } from '../../support/cluster.ts';

export const COMMIT = '7a2ad27f44c0ffee0123456789abcdef01234567';

export interface Written<S> {
  namespace: string;
  name: string;
  spec?: JsonObject;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  status?: S;
}

/** A Sync as the agent might have left it. */
export function createSync(sync: Written<SyncStatus>): Promise<KubeObject> {
  const spec = { repository: { url: 'https://git.example.com/platform.git' }, ...sync.spec };
  return create('Sync', { ...sync, spec });
}

/** A Plugin as the agent might have left it; `sync` says that this Sync of its namespace wrote it. */
export function createPlugin({ sync, ...plugin }: Written<PluginStatus> & { sync?: string }): Promise<KubeObject> {
  const spec = { kind: 'manifests', source: { git: { path: plugin.name } }, ...plugin.spec };
  const owner = sync === undefined ? {} : { [LABEL.sync]: sync, [LABEL.syncNamespace]: plugin.namespace };
  return create('Plugin', { ...plugin, spec, labels: { ...owner, ...plugin.labels } });
}

async function create(kind: string, object: Written<SyncStatus | PluginStatus>): Promise<KubeObject> {
  const { name, namespace, spec, labels = {}, annotations = {}, status } = object;
  const created = await testClient().create({
    apiVersion: API_VERSION,
    kind,
    metadata: { name, namespace, labels, annotations },
    spec,
  });
  if (status === undefined) return created;
  return await setStatus(created, { observedGeneration: created.metadata.generation, ...status });
}

/** Writes a status as the agent does. */
export function setStatus(object: KubeObject, status: object): Promise<KubeObject> {
  const body = { status: status as JsonObject };
  return testClient().patch(refOf(object), body, { type: 'merge', subresource: 'status' });
}

export function conditions(states: Record<string, 'True' | 'False'>, reason = 'Test'): Condition[] {
  return Object.entries(states).map(([type, status]) => ({
    type,
    status,
    reason,
    message: 'as the test wants it',
    lastTransitionTime: '2026-11-18T09:00:00Z',
    observedGeneration: 1,
  }));
}

export function ready(message: string) {
  return { phase: 'Ready' as const, message, conditions: conditions({ Ready: 'True', Drifted: 'False' }) };
}
