import type { JsonObject } from '../../api/index.ts';
import { cleanPath, isSameRepository, refOfRevision } from './address.ts';
import { type ValueFiles, valuesOfSource } from './argo-values.ts';
import type { Leave } from './imported.ts';
import { isOn, leaveFields, mapAt, present, textAt } from './read.ts';
import { overlayOf, transformationsOf, withoutOverlay } from './transform.ts';
import { folderKind, type World } from './world.ts';

export type ArgoKind = 'Helm' | 'Kustomize' | 'Directory' | 'Plugin';

/** What a source of an Application becomes. */
export interface SourcePart {
  kind: 'template' | 'kustomize' | 'manifests';
  /** Charts name their objects after it. */
  release?: string;
  spec: JsonObject;
  overlay?: JsonObject;
}

const KUSTOMIZE: Readonly<Record<string, string | true>> = {
  ...{
    namePrefix: true,
    nameSuffix: true,
    images: true,
    patches: true,
    components: true,
    replicas: true,
    namespace: true,
  },
  ...{
    commonLabels: true,
    commonAnnotations: true,
    labelWithoutSelector: true,
    version: true,
    ignoreMissingComponents: true,
  },
  ...{ forceCommonLabels: true, forceCommonAnnotations: true },
};
const DIRECTORY: Readonly<Record<string, string | true>> = {
  recurse: true,
  include: 'all YAML files of the folder count: move the others out of it',
  exclude: 'all YAML files of the folder count: move the others out of it',
};

export interface ArgoSourceInput {
  source: JsonObject;
  /** What Argo CD says that it is; it looks at the files. */
  told: ArgoKind | undefined;
  application: string;
  where: string;
  /** Where an overlay of it would stand. */
  place: string;
  refs: ReadonlyMap<string, string>;
}

/** Undefined when it can't be carried at all; that has been said then. */
export function sourcePart(input: ArgoSourceInput, world: World, leave: Leave): SourcePart | undefined {
  const { source, where } = input;
  const kind = kindOf(input, world);
  const jsonnet = mapAt(source, 'directory', 'jsonnet');
  if (kind === 'Plugin') leave(`${where}.plugin`, 'programs that make manifests are not run: commit what they make');
  else if (jsonnet !== undefined) leave(`${where}.directory.jsonnet`, 'Jsonnet is not run: commit what it makes');
  else if (kind === undefined)
    leave(where, 'nobody looked what its folder holds: import again once Argo CD has compared it, or with --checkout');
  else return kind === 'Helm' ? helmPart(input, world, leave) : folderPart(kind, input, world, leave);
  return undefined;
}

function kindOf({ source, told }: ArgoSourceInput, world: World): ArgoKind | undefined {
  if (mapAt(source, 'plugin') !== undefined) return 'Plugin';
  if (textAt(source, 'chart') !== undefined || mapAt(source, 'helm') !== undefined) return 'Helm';
  if (mapAt(source, 'kustomize') !== undefined) return 'Kustomize';
  if (mapAt(source, 'directory') !== undefined) return 'Directory';
  if (told !== undefined) return told;
  const [url, path] = [textAt(source, 'repoURL') ?? '', cleanPath(textAt(source, 'path') ?? '.') ?? '.'];
  if (world.checkout(url)?.names(path)?.includes('Chart.yaml') === true) return 'Helm';
  const folder = folderKind(world, url, path);
  return folder === 'unknown' ? undefined : folder === 'kustomize' ? 'Kustomize' : 'Directory';
}

function helmPart(
  { source, application, where, refs }: ArgoSourceInput,
  world: World,
  leave: Leave,
): SourcePart | undefined {
  const [url, chart, revision] = [
    textAt(source, 'repoURL') ?? '',
    textAt(source, 'chart'),
    textAt(source, 'targetRevision'),
  ];
  const path = cleanPath(textAt(source, 'path') ?? '.');
  const files: ValueFiles = { own: { url, path: path ?? '.' }, refs };
  const from =
    chart === undefined ? gitSource(url, path, revision, where, world, leave) : chartSource(url, chart, revision);
  if (from === undefined) return undefined;
  const helm = mapAt(source, 'helm');
  leave(
    where,
    'hooks of the chart, where it has some, are applied as plain objects, and not before or after the others',
  );
  return {
    kind: 'template',
    release: textAt(helm, 'releaseName') ?? application,
    spec: {
      source: from,
      values: valuesOfSource(helm, `${where}.helm`, files, world, leave),
      ...(isOn(helm, 'skipCrds') ? { upgrade: { crds: 'skip' } } : {}),
    },
  };
}

function folderPart(
  kind: 'Kustomize' | 'Directory',
  input: ArgoSourceInput,
  world: World,
  leave: Leave,
): SourcePart | undefined {
  const { source, where, place } = input;
  const [url, path] = [textAt(source, 'repoURL') ?? '', cleanPath(textAt(source, 'path') ?? '.')];
  const from = gitSource(url, path, textAt(source, 'targetRevision'), where, world, leave);
  if (from === undefined) return undefined;
  if (kind === 'Directory') {
    leaveFields(mapAt(source, 'directory'), DIRECTORY, `${where}.directory`, leave);
    const names = world.checkout(url)?.names(path ?? '.') ?? ['?'];
    if (!isOn(source, 'directory', 'recurse') && names.some((name) => name.endsWith('/') || name === '?'))
      leave(`${where}.directory.recurse`, 'folders in the folder count too: move them out of it where there are some');
    return { kind: 'manifests', spec: { source: from } };
  }
  const kustomize = mapAt(source, 'kustomize');
  leaveFields(kustomize, KUSTOMIZE, `${where}.kustomize`, leave);
  const transformations = transformationsOf(kustomize);
  if (Object.keys(transformations).length === 0) return { kind: 'kustomize', spec: { source: from } };
  const isOwn = world.sameRepository !== undefined && isSameRepository(url, world.sameRepository);
  const overlay = isOwn ? overlayOf(transformations, path ?? '.', place.split('/').length) : undefined;
  if (overlay !== undefined) return { kind: 'kustomize', spec: { source: { git: { path: place } } }, overlay };
  const rest = withoutOverlay(kustomize, transformations, `${where}.kustomize`, world.parseYaml, leave);
  const namespace = rest.namespace === undefined ? {} : { namespace: { name: rest.namespace } };
  return { kind: 'kustomize', spec: { source: from, patches: rest.patches, ...namespace } };
}

function chartSource(url: string, name: string, revision: string | undefined): JsonObject {
  const version = revision === '*' ? undefined : revision;
  if (/^https?:\/\//.test(url)) return { chart: present({ repository: url, name, version }) };
  const registry = url.replace(/^oci:\/\//, '').replace(/\/+$/, '');
  return { oci: present({ url: `oci://${registry}/${name}`, version }) };
}

function gitSource(
  url: string,
  path: string | undefined,
  revision: string | undefined,
  where: string,
  world: World,
  leave: Leave,
): JsonObject | undefined {
  if (path === undefined || url.startsWith('oci://')) {
    const why =
      path === undefined
        ? 'its path leads out of the repository'
        : 'manifests come from Git: put them into the repository';
    leave(where, why);
    return undefined;
  }
  if (world.sameRepository !== undefined && isSameRepository(url, world.sameRepository)) return { git: { path } };
  const ref = refOfRevision(revision);
  return { git: { path, url, ...(ref === undefined ? {} : { ref }) } };
}
