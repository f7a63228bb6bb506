import {
  ANNOTATION,
  EspalierError,
  type ExtensionInstance,
  type JsonObject,
  refOf,
  validateObject,
} from '../api/index.ts';
import type { FileChange } from '../git/changedtree.ts';
import type { FileTree } from '../git/tree.ts';
import { plain } from '../plan/plain.ts';
import { sameApp } from '../resolve/extension-versions.ts';
import { awaitInstance } from './await-instance.ts';
import { type ChangeFlags, carryOut, checkFlags, type Intention, needsCluster } from './carry-out.ts';
import { CLI_MANAGER } from './cluster.ts';
import { instanceNamed, namedIn, partsIn, refuseDeclared, textAt } from './find-instance.ts';
import { withValue } from './instance-text.ts';
import {
  type Catalogue,
  isUndecided,
  type KnownInstance,
  keyOfInstance,
  resolveIn,
  withTags,
} from './known-catalogue.ts';
import { say } from './print.ts';
import { withCatalogue, wrong } from './with-catalogue.ts';

interface UpgradeFlags extends ChangeFlags {
  version?: string;
  approve?: string;
}

/** What is written: a version that is asked for, or the consent to one that waits. */
interface Wish {
  path: [string, ...string[]];
  value: string;
  title: string;
}

export async function upgradeInstance(name: string, flags: UpgradeFlags): Promise<void> {
  checkFlags(flags);
  if (flags.version !== undefined && flags.approve !== undefined)
    throw wrong('give --version or --approve: what is asked for anew needs no consent to what waits');
  await withCatalogue(flags, needsCluster(flags), async (looked) => {
    const { repository } = looked;
    const known = instanceNamed(looked, name);
    const catalogue = await withTags(looked.catalogue, [known.object.spec.extension]);
    // Consent is to this cluster, and counts where the object has it, wherever that was declared.
    if (repository === undefined && flags.version !== undefined) refuseDeclared(known, catalogue);
    const key = keyOfInstance(known.object);
    if (known.isImplied && (flags.version !== undefined || repository !== undefined)) throw byClass(known);
    const wish = wishFor(catalogue, known, flags);
    const object = withWish(known.object, wish);
    const [fault] = validateObject(object);
    if (fault !== undefined) throw wrong(plain(fault.message));
    const resolved = resolveIn(catalogue, object);
    if (resolved.state === 'refused') throw wrong(plain(resolved.why));
    const extension = catalogue.extensions.get(object.spec.extension);
    if (resolved.state !== 'made' && !isUndecided(catalogue, extension))
      throw new EspalierError('CommandRefused', `${key} can't move: ${plain(resolved.why)}`);
    say(`${key}: ${plain(resolved.why)}`);
    const { namespace = '', name: own } = object.metadata;
    const intention: Intention = {
      ...{ verb: 'upgrade', extension: object.spec.extension },
      instance: { namespace, name: own },
      title: wish.title,
      body: `${wish.title}: ${resolved.why}.`,
      files: async (tree) => (repository === undefined ? [] : await edited({ ...repository, tree }, known, wish)),
      async write(client) {
        const body = wish.path.reduceRight<unknown>((inner, step) => ({ [step]: inner }), wish.value) as JsonObject;
        await client.patch(refOf(known.object), body, { type: 'merge', fieldManager: CLI_MANAGER });
        return `extensioninstance.espalier.dev/${own}: ${wish.title}`;
      },
      plugin: resolved.state === 'made' ? resolved.plugin : undefined,
      otherwise: `would set ${wish.path.join('.')} of ExtensionInstance ${key} to ${wish.value}`,
    };
    const done = await carryOut(looked, intention, flags);
    if (done && flags.wait) await awaitInstance(looked, intention.instance, resolved.version, flags.timeout);
  });
}

function wishFor(catalogue: Catalogue, { object }: KnownInstance, { version, approve }: UpgradeFlags): Wish {
  const key = keyOfInstance(object);
  if (version !== undefined) {
    if (object.spec.version === version)
      throw new EspalierError('CommandRefused', `${key} asks for ${plain(version)} already`);
    return { path: ['spec', 'version'], value: version, title: `Upgrade ${object.metadata.name} to ${version}` };
  }
  const waiting = object.status?.next ?? resolveIn(catalogue, object).next;
  if (waiting === undefined) {
    const current = object.status?.version;
    const message = `nothing waits for ${key}${current === undefined ? '' : `, which is at ${plain(current)}`}; ask for another version with --version`;
    throw new EspalierError('CommandRefused', message);
  }
  if (approve !== undefined && !sameApp(approve, waiting.version)) {
    const message = `${key} waits with ${plain(waiting.version)}, not with ${plain(approve)}: ${plain(waiting.waitsFor)}`;
    throw new EspalierError('CommandRefused', message);
  }
  const title = `Approve ${waiting.version} of ${object.metadata.name}`;
  return { path: ['metadata', 'annotations', ANNOTATION.approveVersion], value: waiting.version, title };
}

function withWish(object: ExtensionInstance, { path, value }: Wish): ExtensionInstance {
  const { metadata, spec } = object;
  if (path[0] === 'spec') return { ...object, spec: { ...spec, version: value } };
  const annotations = { ...metadata.annotations, [ANNOTATION.approveVersion]: value };
  return { ...object, metadata: { ...metadata, annotations } };
}

/** In the last file that says it, for that one counts; else where the instance is declared. */
async function edited(
  repository: Parameters<typeof partsIn>[0] & { tree: FileTree },
  known: KnownInstance,
  wish: Wish,
): Promise<FileChange[]> {
  const parts = await partsIn(repository, known);
  const [first] = parts;
  if (first === undefined) {
    const message = `${keyOfInstance(known.object)} is not declared in ${plain(repository.source)}: change it there where it is`;
    throw new EspalierError('CommandRefused', message);
  }
  const named = namedIn(repository.sync, known.object);
  const texts = await Promise.all(parts.map(async (path) => ({ path, text: await textAt(repository.tree, path) })));
  const pattern = new RegExp(`^\\s*(?:- )?["']?${wish.path.at(-1)?.replaceAll(/[./]/g, '\\$&')}["']?\\s*:`, 'm');
  const { path, text } = texts.findLast((one, index) => index > 0 && pattern.test(one.text)) ??
    texts[0] ?? { path: first, text: '' };
  const content = withValue(text, named, wish.path, wish.value);
  return content === text ? [] : [{ path, content }];
}

function byClass({ object }: KnownInstance): EspalierError {
  const { extension } = object.spec;
  const message = `${keyOfInstance(object)} is there by the class of extension ${extension}; declare an instance of that name to choose a version: espalier extensions install ${extension} --version …`;
  return new EspalierError('CommandRefused', message);
}
