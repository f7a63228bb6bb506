import type { KeyPair } from './authority.ts';

export type Credential = { token: string } | { client: KeyPair };

/** A kubeconfig of one cluster, one user and one context, all named `playground`. JSON is YAML, and every tool reads it. */
export function kubeconfigFor(server: { url: string; certificate: string }, credential: Credential): string {
  const user =
    'token' in credential
      ? { token: credential.token }
      : {
          'client-certificate-data': base64(credential.client.certificate),
          'client-key-data': base64(credential.client.key),
        };
  const name = 'playground';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server: server.url, 'certificate-authority-data': base64(server.certificate) } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
