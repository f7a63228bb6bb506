import { readdirSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '../api/index.ts';
import { ask, type Endpoint } from './request.ts';

const STAGES = join(import.meta.dirname, 'kwok');

/** The same for every container: nothing runs in it. In the private folder, where it may be changed. */
const POD_LOG = 'pod.log';

/** What the API server asks for the logs of pods, and nobody else. */
export interface KubeletServer {
  port: number;
  certificate: string;
  key: string;
}

/**
 * kwok plays the kubelets: pods of its nodes start, finish and go away without a machine, and what `kubectl logs` shows
 * of them is a file.
 */
export function kwokArguments(kubeconfig: string, { port, certificate, key }: KubeletServer): string[] {
  const stages = readdirSync(STAGES).filter((name) => name.endsWith('.yaml'));
  return [
    `--kubeconfig=${kubeconfig}`,
    '--manage-all-nodes=false',
    '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
    '--node-lease-duration-seconds=40',
    '--cidr=10.244.0.0/16',
    '--node-ip=127.0.0.1',
    `--node-port=${port}`,
    `--server-address=127.0.0.1:${port}`,
    `--tls-cert-file=${certificate}`,
    `--tls-private-key-file=${key}`,
    ...stages.map((name) => `--config=${join(STAGES, name)}`),
  ];
}

/** Puts what pods say where kwok reads it. */
export async function writePodLog(folder: string): Promise<void> {
  await copyFile(join(STAGES, POD_LOG), join(folder, POD_LOG));
}

/** Nodes of a usual size, each in a zone of its own. */
export function nodeObjects(count: number): KubeObject[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `node-${index + 1}`;
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        annotations: { 'kwok.x-k8s.io/node': 'fake' },
        labels: {
          'kubernetes.io/hostname': name,
          'kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          'node-role.kubernetes.io/worker': '',
          'topology.kubernetes.io/region': 'playground',
          'topology.kubernetes.io/zone': `playground-${index + 1}`,
        },
      },
      status: {
        allocatable: { cpu: '32', memory: '256Gi', pods: '500', 'ephemeral-storage': '1Ti' },
        capacity: { cpu: '32', memory: '256Gi', pods: '500', 'ephemeral-storage': '1Ti' },
      },
    };
  });
}

/** Every node is ready and untainted, and the service account that pods get by default is there. */
export async function takesPods(endpoint: Endpoint, count: number): Promise<boolean> {
  const account = await ask(endpoint, '/api/v1/namespaces/default/serviceaccounts/default');
  if (account?.status !== 200) return false;
  const answer = await ask(endpoint, '/api/v1/nodes');
  if (answer?.status !== 200) return false;
  const { items }: { items: { spec: { taints?: unknown[] } }[] } = JSON.parse(answer.body);
  return items.length === count && items.every((node) => (node.spec.taints ?? []).length === 0);
}
