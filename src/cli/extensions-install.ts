import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import {
  API_VERSION,
  EspalierError,
  type Extension,
  type ExtensionInstanceDeclaration,
  type JsonObject,
  LABEL,
  messageOf,
  readAs,
  validateObject,
} from '../api/index.ts';
import { joinPath, splitPath } from '../git/tree.ts';
import { plain } from '../plan/plain.ts';
import { setText, setValue } from '../resolve/set-path.ts';
import { mergeValues } from '../resolve/values.ts';
import { awaitInstance } from './await-instance.ts';
import { type ChangeFlags, carryOut, checkFlags, type Intention, needsCluster } from './carry-out.ts';
import { ofTree } from './catalogue-read.ts';
import { CLI_MANAGER } from './cluster.ts';
import { extensionNamed } from './extensions-show.ts';
import { placeFor } from './instance-place.ts';
import { instanceText } from './instance-text.ts';
import {
  type Catalogue,
  isUndecided,
  type KnownInstance,
  keyOfInstance,
  resolveIn,
  withTags,
} from './known-catalogue.ts';
import { parameterRows } from './parameter-rows.ts';
import { say } from './print.ts';
import { type Looked, type Opened, withCatalogue, wrong } from './with-catalogue.ts';

interface InstallFlags extends ChangeFlags {
  name?: string;
  version: string;
  set?: string[];
  values?: string;
  approval?: string;
}

/** `espalier extensions install`: everything that can be wrong is found before anything is written. */
export async function installExtension(name: string, flags: InstallFlags): Promise<void> {
  checkFlags(flags);
  await withCatalogue(flags, needsCluster(flags), async (looked) => {
    const { namespace } = looked;
    const catalogue = await withTags(looked.catalogue, [name]);
    const extension = extensionNamed(catalogue, name);
    const parameters = await parametersOf(extension, flags);
    const object = declarationOf(name, namespace, parameters, flags);
    refuseTaken(catalogue, looked, object);
    mayHold(looked, namespace);
    const made = { ...catalogue, instances: [...catalogue.instances, knownAs(object)] };
    const resolved = resolveIn(made, readAs(object, 'ExtensionInstance'));
    if (resolved.state === 'refused')
      throw wrong(resolved.faults.map(({ message }) => plain(message)).join('\n') || plain(resolved.why));
    if (resolved.state !== 'made' && !isUndecided(catalogue, extension))
      throw new EspalierError('CommandRefused', `${name} can't be installed: ${plain(resolved.why)}`);
    say(`${keyOfInstance(object)}: ${plain(resolved.why)}`);
    const intention: Intention = {
      ...{ verb: 'install', extension: name },
      instance: { namespace, name: object.metadata.name },
      title: `Install ${name}${object.metadata.name === name ? '' : ` as ${object.metadata.name}`} in ${namespace}`,
      body: `Installs the extension \`${name}\` as \`${keyOfInstance(object)}\`: ${resolved.why}.`,
      async files(tree) {
        const { repository } = looked;
        return repository === undefined ? [] : await fileFor({ ...repository, tree }, object);
      },
      async write(client) {
        await client.create(object, { fieldManager: CLI_MANAGER });
        return `extensioninstance.espalier.dev/${object.metadata.name} created in ${namespace}`;
      },
      plugin: resolved.state === 'made' ? resolved.plugin : undefined,
      otherwise: `would create ExtensionInstance ${keyOfInstance(object)}: ${plain(resolved.why)}`,
    };
    const done = await carryOut(looked, intention, flags);
    if (done && flags.wait) await awaitInstance(looked, intention.instance, resolved.version, flags.timeout);
  });
}

/** From the file, then from `--set`. What the schema says is text stays text. */
async function parametersOf(extension: Extension, { values, set = [] }: InstallFlags): Promise<JsonObject> {
  const schema = extension.spec.parameters;
  const types = new Map(parameterRows(schema).map(({ name, type }) => [name, type]));
  let parameters = values === undefined ? {} : await readValues(values);
  for (const one of set) {
    const [, path, value] = /^((?:\\.|[^=\\])+)=(.*)$/s.exec(one) ?? [];
    if (path === undefined || value === undefined) throw wrong(`--set ${one}: write it as parameter=value`);
    const outcome = (types.get(path) === 'string' ? setText : setValue)(parameters, path, value);
    if (!outcome.ok) throw wrong(`--set: ${outcome.message}`);
    parameters = outcome.values;
  }
  return parameters;
}

async function readValues(file: string): Promise<JsonObject> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw wrong(`--values: ${file} can't be read: ${messageOf(error)}`);
  });
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault !== undefined) throw wrong(`--values: ${file} is not YAML: ${fault.message.split('\n')[0]}`);
  const values: unknown = document.toJS() ?? {};
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw wrong(`--values: ${file} must hold names with values`);
  return mergeValues({}, values as JsonObject);
}

function declarationOf(
  extension: string,
  namespace: string,
  parameters: JsonObject,
  { name = extension, version, approval }: InstallFlags,
): ExtensionInstanceDeclaration {
  const object = {
    apiVersion: API_VERSION,
    kind: 'ExtensionInstance',
    metadata: { name, namespace },
    spec: {
      extension,
      ...(version === 'auto' ? {} : { version }),
      ...(approval === undefined ? {} : { upgrade: { approval } }),
      ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    },
  };
  const faults = validateObject(object);
  if (faults.length > 0) throw wrong(faults.map(({ message }) => plain(message)).join('\n'));
  return object as ExtensionInstanceDeclaration;
}

function knownAs(object: ExtensionInstanceDeclaration): KnownInstance {
  return { object: readAs(object, 'ExtensionInstance'), parts: [], isImplied: false };
}

/** Where an instance or a Plugin of that name is already, which stays as it is. */
function refuseTaken(catalogue: Catalogue, { repository }: Looked, object: ExtensionInstanceDeclaration): void {
  const key = keyOfInstance(object as Parameters<typeof keyOfInstance>[0]);
  const present = catalogue.instances.find((one) => keyOfInstance(one.object) === key);
  // To declare what is there by its class gives it parameters.
  const isSame = present?.object.spec.extension === object.spec.extension;
  if (repository !== undefined && present?.isImplied === true && isSame) return;
  const [part] = present?.parts ?? [];
  const what =
    present !== undefined
      ? `an instance ${key} of ${present.object.spec.extension} is there already${part === undefined ? '' : ` (${part.file})`}`
      : isOfOthers(catalogue, object)
        ? `a Plugin ${key} is there already, and would be taken over`
        : undefined;
  if (what === undefined) return;
  const change = repository === undefined ? 'kubectl edit extensioninstance' : 'an edit of its file';
  const advice = present === undefined ? '' : ` To change it: espalier extensions upgrade, or ${change}.`;
  throw new EspalierError('CommandRefused', `${plain(what)}; choose another with --name.${advice}`);
}

/** The Plugin of an earlier instance of that name is on its way out. */
function isOfOthers({ plugins }: Catalogue, { metadata }: ExtensionInstanceDeclaration): boolean {
  const plugin = plugins.get(`${metadata.namespace}/${metadata.name}`);
  return plugin !== undefined && plugin.metadata.labels?.[LABEL.instance] !== metadata.name;
}

/** The Sync of a tenant writes to its own namespaces alone. */
function mayHold({ repository }: Looked, namespace: string): void {
  const { metadata, spec } = repository?.sync ?? {};
  const allowed = spec?.allowedNamespaces;
  if (allowed === undefined || namespace === metadata?.namespace || allowed.includes(namespace)) return;
  const message = `sync/${metadata?.name} may not write to namespace ${namespace}; it may to ${[metadata?.namespace, ...allowed].join(', ')}`;
  throw new EspalierError('CommandRefused', message);
}

async function fileFor({ tree, sync }: Opened, object: ExtensionInstanceDeclaration) {
  const declared = await ofTree(tree, sync);
  const key = keyOfInstance(object as Parameters<typeof keyOfInstance>[0]);
  const text = instanceText(object);
  // A branch that was proposed before may have it already; then it says what is wanted now.
  const present = declared.instances.find((one) => keyOfInstance(one.object) === key)?.parts[0]?.file;
  const { name, namespace = '' } = object.metadata;
  const others = declared.instances.flatMap(({ object: { metadata }, parts: [part] }) =>
    part === undefined ? [] : [{ namespace: metadata.namespace ?? '', file: part.file }],
  );
  const root = splitPath(sync.spec.repository.path).join('/');
  const names = new Map<string, string | undefined>();
  for (const path of possible(root, others, name, namespace)) names.set(path, await tree.id(path));
  const path = present ?? placeFor({ namespace, name }, root, others, (one) => names.get(one) !== undefined);
  const before = await tree.read(path);
  if (before !== undefined && Buffer.from(before).toString() === text) return [];
  if (present === undefined && before !== undefined)
    throw new EspalierError(
      'CommandRefused',
      `${plain(path)} is there already and is something else; choose another --name`,
    );
  return [{ path, content: text }];
}

function possible(root: string, others: readonly { file: string }[], name: string, namespace: string): string[] {
  const beside = others.map(({ file }) => [...file.split('/').slice(0, -1), `${name}.yaml`].join('/'));
  return [...new Set([...beside, joinPath(root, `extensions/${namespace}/${name}.yaml`)])];
}
