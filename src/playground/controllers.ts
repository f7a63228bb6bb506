import { join } from 'node:path';
import { FILES } from './apiserver.ts';

/** No serving port, no election: there is one of each, and nobody asks it. Client limits are raised so tests don't wait for them. */
const COMMON = [
  '--secure-port=0',
  '--leader-elect=false',
  '--profiling=false',
  '--kube-api-qps=300',
  '--kube-api-burst=600',
];

export function controllerManagerArguments(folder: string, kubeconfig: string): string[] {
  return [
    ...COMMON,
    `--kubeconfig=${kubeconfig}`,
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${join(folder, FILES.serviceAccountKey)}`,
    `--root-ca-file=${join(folder, FILES.authority)}`,
    `--cluster-signing-cert-file=${join(folder, FILES.authority)}`,
    `--cluster-signing-key-file=${join(folder, FILES.authorityKey)}`,
  ];
}

export function schedulerArguments(kubeconfig: string): string[] {
  return [...COMMON, `--kubeconfig=${kubeconfig}`];
}
