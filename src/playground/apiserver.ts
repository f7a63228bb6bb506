import { join } from 'node:path';
import { etcdSocket } from './etcd.ts';

/** File names in the private folder. */
export const FILES = {
  authority: 'ca.crt',
  authorityKey: 'ca.key',
  serverCertificate: 'server.crt',
  serverKey: 'server.key',
  serviceAccountCertificate: 'service-account.crt',
  serviceAccountKey: 'service-account.key',
  tokens: 'tokens.csv',
  kubeconfig: 'kubeconfig',
} as const;

/** As kubeadm sets one up, but on loopback: its address can't be an Endpoints object, hence no endpoint reconciler. */
export function apiServerArguments(folder: string, port: number): string[] {
  return [
    `--etcd-servers=unix://${etcdSocket(folder)}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${join(folder, FILES.serverCertificate)}`,
    `--tls-private-key-file=${join(folder, FILES.serverKey)}`,
    `--client-ca-file=${join(folder, FILES.authority)}`,
    `--token-auth-file=${join(folder, FILES.tokens)}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--allow-privileged=true',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${join(folder, FILES.serviceAccountCertificate)}`,
    `--service-account-signing-key-file=${join(folder, FILES.serviceAccountKey)}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--endpoint-reconciler-type=none',
    // Nobody resolves the names of nodes without machines.
    '--kubelet-preferred-address-types=InternalIP',
    '--max-requests-inflight=3000',
    '--max-mutating-requests-inflight=1000',
  ];
}

export interface TokenUser {
  name: string;
  token: string;
  groups: string[];
}

/** A file for `--token-auth-file`: token, user, uid, "groups". */
export function tokenFile(users: TokenUser[]): string {
  return users.map(({ token, name, groups }) => `${token},${name},${name},"${groups.join(',')}"\n`).join('');
}
