import type { Plugin } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { type Facts, factsOf } from './facts.ts';
import type { Parts } from './parts.ts';

/** A client with the rights of a service account. The API server adds the groups of service accounts by itself. */
export function asAccount(client: KubeClient, account: Facts['account']): KubeClient {
  return account === undefined
    ? client
    : client.as({ name: `system:serviceaccount:${account.namespace}:${account.name}` });
}

/** The client that writes for a Plugin. When its Sync is gone already, what is left to do is done with the agent's rights. */
export function clientFor(parts: Parts, plugin: Plugin): KubeClient {
  const answer = factsOf(parts, plugin);
  return answer.known ? asAccount(parts.client, answer.facts.account) : parts.client;
}
