import { EspalierError, refOf } from '../api/index.ts';
import type { FileChange } from '../git/changedtree.ts';
import { plain } from '../plan/plain.ts';
import { awaitGone } from './await-instance.ts';
import { type ChangeFlags, carryOut, checkFlags, type Intention, needsCluster } from './carry-out.ts';
import { whoNeeds } from './extension-needs.ts';
import { instanceNamed, namedIn, partsIn, refuseDeclared, textAt } from './find-instance.ts';
import { without } from './instance-text.ts';
import { type Catalogue, type KnownInstance, keyOfInstance } from './known-catalogue.ts';
import { type Opened, withCatalogue } from './with-catalogue.ts';

export async function uninstallInstance(name: string, flags: ChangeFlags): Promise<void> {
  checkFlags(flags);
  await withCatalogue(flags, needsCluster(flags), async (looked) => {
    const { catalogue, repository } = looked;
    const known = instanceNamed(looked, name);
    const key = keyOfInstance(known.object);
    refuseNeeded(catalogue, known);
    if (repository === undefined) refuseDeclared(known, catalogue);
    const { namespace = '', name: own, uid } = known.object.metadata;
    const { extension } = known.object.spec;
    const intention: Intention = {
      ...{ verb: 'uninstall', extension },
      instance: { namespace, name: own },
      title: `Uninstall ${own} from ${namespace}`,
      body: `Uninstalls \`${key}\`, an instance of the extension \`${extension}\`. Nothing else needs it.`,
      files: async (tree) => (repository === undefined ? [] : await removed({ ...repository, tree }, known)),
      async write(client) {
        const done = await client.delete(refOf(known.object), uid === undefined ? {} : { uid });
        return `extensioninstance.espalier.dev/${own} ${done === 'absent' ? 'was gone already' : 'deleted'}`;
      },
      otherwise: whatGoes(catalogue, key),
    };
    const done = await carryOut(looked, intention, flags);
    if (done && flags.wait) await awaitGone(looked, intention.instance, flags.timeout);
  });
}

function refuseNeeded(catalogue: Catalogue, known: KnownInstance): void {
  const key = keyOfInstance(known.object);
  const { extension } = known.object.spec;
  const its = catalogue.extensions.get(extension)?.spec.class;
  const refuse = (why: string): never => {
    throw new EspalierError('CommandRefused', `${plain(key)} can't be uninstalled: ${plain(why)}`);
  };
  if (its === 'system') refuse(`${extension} is a system extension, which every cluster keeps`);
  const needed = whoNeeds(catalogue, known);
  if (needed.length > 0) refuse(`it is needed by ${needed.join(', ')}`);
  if (known.isImplied)
    refuse(
      `it is there by the class of extension ${extension} (${its ?? 'default'}); to switch it off, declare an instance of that name with enabled: false`,
    );
}

/** The whole file, or the one document of it. An overlay of what is gone would be a fault, so it goes too. */
async function removed(repository: Opened, known: KnownInstance): Promise<FileChange[]> {
  const named = namedIn(repository.sync, known.object);
  const changes: FileChange[] = [];
  for (const path of await partsIn(repository, known))
    changes.push({ path, content: without(await textAt(repository.tree, path), named) });
  return changes;
}

function whatGoes({ plugins }: Catalogue, key: string): string {
  const objects = plugins.get(key)?.status?.inventory ?? [];
  const lines = objects.map(({ kind, namespace, name }) => {
    return `  - ${kind} ${namespace === undefined ? '' : `${plain(namespace)}/`}${plain(name)}`;
  });
  const head = `would delete ExtensionInstance ${plain(key)}, and with it its Plugin`;
  return lines.length === 0 ? `${head}, which owns nothing` : [`${head} and what that owns:`, ...lines].join('\n');
}
