import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { API_VERSION, EspalierError, type JsonObject, type KubeObject, refOf } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { waitFor } from './wait.ts';

const CRDS = join(import.meta.dirname, '..', '..', 'manifests', 'crds');
const ESTABLISHED_TIMEOUT_MS = 30_000;
const MANAGER = 'espalier-playground';
/** Tells a Sync that a playground may change from one that somebody relies on. */
const MARK = 'espalier.dev/playground';
const FORGE_SECRET = 'forge-credentials';

/** Installs our kinds, or brings them up to date, and waits until the API server serves them. */
export async function installKinds(client: KubeClient, signal: AbortSignal): Promise<void> {
  const definitions = await readDefinitions();
  await Promise.all(definitions.map((one) => client.apply(one, { fieldManager: MANAGER, force: true, signal })));
  const isServed = async () => {
    const live = await Promise.all(definitions.map((one) => client.get(refOf(one), { signal })));
    return live.every(isEstablished);
  };
  await waitFor('serving our kinds', isServed, { timeoutMs: ESTABLISHED_TIMEOUT_MS, signal });
}

async function readDefinitions(): Promise<KubeObject[]> {
  const names = (await readdir(CRDS)).filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml');
  const texts = await Promise.all(names.map((name) => readFile(join(CRDS, name), 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text)).map((document) => document.toJS());
}

function isEstablished(definition: KubeObject | undefined): boolean {
  const status = definition?.status as { conditions?: { type: string; status: string }[] } | undefined;
  return status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True') === true;
}

export interface Followed {
  namespace: string;
  name: string;
  url: string;
  user: string;
  password: string;
  /** Where answers are written to, and how. */
  forge?: { kind: 'gitea'; url: string; token: string; webhookSecret: string } | undefined;
  /** What else the Sync says. */
  spec?: JsonObject | undefined;
}

/** Declares what to follow. A Sync of that name which no playground made is somebody's, and left alone. */
export async function declareSync(client: KubeClient, followed: Followed, signal: AbortSignal): Promise<void> {
  const { namespace, name, url, user, password, forge, spec } = followed;
  const labels = { [MARK]: 'true' };
  const ref = { apiVersion: API_VERSION, kind: 'Sync', namespace, name };
  const there = await client.get(ref, { signal });
  if (there !== undefined && there.metadata.labels?.[MARK] !== 'true') {
    throw new EspalierError(
      'InvalidConfiguration',
      `this cluster already has the Sync ${namespace}/${name}, which no playground made; use another cluster`,
      { retry: false },
    );
  }
  const objects: KubeObject[] = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'git-credentials', namespace, labels },
      stringData: { username: user, password },
    },
    ...(forge === undefined ? [] : [forgeSecret(namespace, labels, forge)]),
    {
      apiVersion: API_VERSION,
      kind: 'Sync',
      metadata: { name, namespace, labels },
      spec: {
        repository: { url, ref: { branch: 'main' }, secretRef: { name: 'git-credentials' } },
        poll: '30s',
        cluster: { name: 'playground' },
        ...spec,
        ...(forge && { forge: { kind: forge.kind, url: forge.url, secretRef: { name: FORGE_SECRET } } }),
      },
    },
  ];
  for (const object of objects) await client.apply(object, { fieldManager: MANAGER, force: true, signal });
}

function forgeSecret(
  namespace: string,
  labels: Record<string, string>,
  { token, webhookSecret }: { token: string; webhookSecret: string },
): KubeObject {
  const metadata = { name: FORGE_SECRET, namespace, labels };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token, webhookSecret } };
}
