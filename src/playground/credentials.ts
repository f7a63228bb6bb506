import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FILES, tokenFile } from './apiserver.ts';
import { createAuthority, openAuthority } from './authority.ts';
import { kubeconfigFor } from './kubeconfig.ts';

export interface User {
  name: string;
  groups: string[];
}

export interface Credentials {
  certificate: string;
  /** Token of each user by name. */
  tokens: Map<string, string>;
}

export const ADMIN = 'admin';
export const CONTROLLER_MANAGER = 'system:kube-controller-manager';
export const SCHEDULER = 'system:kube-scheduler';
export const KWOK = 'kwok';

const AUTHORITY_NAME = 'espalier playground';
const BUILT_IN: User[] = [
  { name: ADMIN, groups: ['system:masters'] },
  { name: KWOK, groups: ['system:masters'] },
  { name: CONTROLLER_MANAGER, groups: [] },
  { name: SCHEDULER, groups: [] },
];

/** Keys, certificates and tokens that the servers of one control plane read from its private folder. */
export async function writeCredentials(folder: string, users: User[]): Promise<Credentials> {
  const authority = createAuthority(AUTHORITY_NAME);
  const server = authority.issue({
    commonName: 'kube-apiserver',
    hosts: ['127.0.0.1', 'localhost', 'kubernetes.default.svc', '10.96.0.1'],
  });
  const serviceAccounts = authority.issue({ commonName: 'service-accounts' });
  const known = [...BUILT_IN, ...users].map((user) => ({ ...user, token: randomBytes(24).toString('hex') }));
  const files: [string, string][] = [
    [FILES.authority, authority.certificate],
    [FILES.authorityKey, authority.key],
    [FILES.serverCertificate, server.certificate],
    [FILES.serverKey, server.key],
    [FILES.serviceAccountCertificate, serviceAccounts.certificate],
    [FILES.serviceAccountKey, serviceAccounts.key],
    [FILES.tokens, tokenFile(known)],
  ];
  await Promise.all(files.map(([name, text]) => writeFile(join(folder, name), text, { mode: 0o600 })));
  return { certificate: authority.certificate, tokens: new Map(known.map(({ name, token }) => [name, token])) };
}

/**
 * A kubeconfig for one more user of a running control plane, proven by a client certificate: tokens are read at start alone.
 * Needs only its folder, so tests that share a control plane of another process can have users too.
 */
export async function writeUserKubeconfig(folder: string, url: string, user: User): Promise<string> {
  const [certificate, key] = await Promise.all([
    readFile(join(folder, FILES.authority), 'utf8'),
    readFile(join(folder, FILES.authorityKey), 'utf8'),
  ]);
  const client = openAuthority({ certificate, key }, AUTHORITY_NAME).issue({
    commonName: user.name,
    organizations: user.groups,
  });
  const path = join(folder, `user-${randomBytes(6).toString('hex')}.kubeconfig`);
  await writeFile(path, kubeconfigFor({ url, certificate }, { client }), { mode: 0o600 });
  return path;
}
