import { randomBytes } from 'node:crypto';
import { EspalierError, isError, type KubeObject, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { plain } from '../plan/plain.ts';
import { HOOK_SECRET_KEY, hookRefs } from '../reconcile/hooks.ts';
import { secretData } from '../reconcile/secret-data.ts';
import { CLI_MANAGER } from './cluster.ts';
import { withForge } from './forge.ts';
import { print, say } from './print.ts';
import { hookUrl } from './webhook-url.ts';

const SECRET_BYTES = 32;

/** Has the forge of a Sync call the agent. The secret comes first: a webhook that nobody can prove would be of no use. */
export async function installWebhook(client: KubeClient, sync: Sync, agent: URL, dryRun: boolean): Promise<void> {
  const { name, namespace = '' } = sync.metadata;
  const url = hookUrl(agent, namespace, name);
  const repository = plain(sync.spec.repository.url);
  await withForge(client, sync, async (forge, signal) => {
    const [ref] = hookRefs(sync);
    const object = ref === undefined ? undefined : await client.get(ref);
    if (ref === undefined || object === undefined) {
      throw new EspalierError(
        'KubeNotFound',
        `the Secret of sync/${name} has gone in this very moment; run this again`,
      );
    }
    const where = `key ${HOOK_SECRET_KEY} of Secret ${namespace}/${ref.name}`;
    const known = secretData(object)[HOOK_SECRET_KEY] ?? '';
    if (dryRun) {
      print(known === '' ? `would put a new random secret into ${where}` : `would use ${where} as it is`);
      print(`would have the forge of ${repository} call ${url}`);
      return;
    }
    const secret = known === '' ? newSecret(sync) : known;
    if (known === '') {
      await putSecret(client, object, secret);
      print(`made a random secret in ${where}`);
      for (const { kind, name: owner } of object.metadata.ownerReferences ?? [])
        say(`Secret ${ref.name} is kept by ${kind} ${owner}, which may take the key away again: put it there too`);
    }
    const done = await forge.ensureWebhook({ url, secret }, signal);
    print(`${done} the webhook of ${repository} that calls ${url}${known === '' ? '' : `, signed with ${where}`}`);
  });
}

/** In this form GitLab signs bodies with it; the others take any text. */
function newSecret({ spec }: Sync): string {
  const bytes = randomBytes(SECRET_BYTES);
  return spec.forge?.kind === 'gitlab' ? `whsec_${bytes.toString('base64')}` : bytes.toString('hex');
}

/** Fails when somebody else wrote the Secret meanwhile: of two secrets that are made at once, only one would be right. */
async function putSecret(client: KubeClient, { metadata }: KubeObject, secret: string): Promise<void> {
  const { name, namespace = '', resourceVersion = '' } = metadata;
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace, name };
  const data = { [HOOK_SECRET_KEY]: Buffer.from(secret).toString('base64') };
  try {
    await client.patch(ref, { metadata: { resourceVersion }, data }, { type: 'merge', fieldManager: CLI_MANAGER });
  } catch (error) {
    if (!isError(error, 'KubeConflict')) throw error;
    const message = `Secret ${namespace}/${name} was changed by somebody else at the same time; run this again`;
    throw new EspalierError(error.code, message, { cause: error });
  }
}
