import { EspalierError, type ExtensionInstance, LABEL, type Sync } from '../api/index.ts';
import { suggest } from '../api/validate/suggest.ts';
import type { FileTree } from '../git/tree.ts';
import { plain } from '../plan/plain.ts';
import { ofTree } from './catalogue-read.ts';
import type { Named } from './instance-text.ts';
import { type Catalogue, type KnownInstance, keyOfInstance } from './known-catalogue.ts';
import { type Looked, type Opened, wrong } from './with-catalogue.ts';

/** The instance that a person named, as `web` or `team/web`. */
export function instanceNamed({ catalogue, namespace }: Looked, name: string): KnownInstance {
  const wanted = name.includes('/') ? name : `${namespace}/${name}`;
  const keys = catalogue.instances.map(({ object }) => keyOfInstance(object));
  const found = catalogue.instances[keys.indexOf(wanted)];
  if (found !== undefined) return found;
  const short = wanted.slice(wanted.indexOf('/') + 1);
  const elsewhere = keys.filter((key) => key.endsWith(`/${short}`));
  const meant = elsewhere.length > 0 ? elsewhere.join(', ') : suggest(wanted, keys);
  const hint = meant === undefined ? 'see espalier extensions list' : `did you mean ${plain(meant)}?`;
  throw wrong(`there is no instance "${plain(wanted)}"; ${hint}`);
}

/** Of what a Sync wrote, Git is what counts: it would be put back within a second. */
export function refuseDeclared({ object, parts }: KnownInstance, catalogue: Catalogue): void {
  const key = keyOfInstance(object);
  const labels = { ...catalogue.plugins.get(key)?.metadata.labels, ...object.metadata.labels };
  const sync = labels[LABEL.sync];
  if (sync === undefined) return;
  const where = parts.length === 0 ? '' : ` in ${parts.map(({ file }) => plain(file)).join(', ')}`;
  const message = `${key} is declared${where} of what sync/${labels[LABEL.syncNamespace]}/${sync} follows, which would put it back: give that with --repository`;
  throw new EspalierError('CommandRefused', message);
}

/** Files of a tree that declare an instance: its base first. */
export async function partsIn({ tree, sync }: Opened, { object }: KnownInstance): Promise<string[]> {
  const { instances } = await ofTree(tree, sync);
  const key = keyOfInstance(object);
  const found = instances.find((one) => keyOfInstance(one.object) === key);
  return [...new Set((found?.parts ?? []).map(({ file }) => file))];
}

export function namedIn(sync: Sync, { kind, metadata }: ExtensionInstance): Named {
  return { kind, name: metadata.name, namespace: metadata.namespace ?? '', usual: sync.metadata.namespace ?? '' };
}

export async function textAt(tree: FileTree, path: string): Promise<string> {
  return Buffer.from((await tree.read(path)) ?? []).toString();
}
