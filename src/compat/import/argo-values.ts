import type { Json, JsonObject } from '../../api/index.ts';
import { setValue } from '../../resolve/set-path.ts';
import { mergeValues } from '../../resolve/values.ts';
import { cleanPath } from './address.ts';
import type { Leave } from './imported.ts';
import { at, isMap, isOn, leaveFields, listAt, mapAt, textAt, textsAt } from './read.ts';
import type { World } from './world.ts';

/** Where the files of values of a source are: its own repository and folder, and the repositories that others name. */
export interface ValueFiles {
  own: { url: string; path: string };
  /** By the `ref` of the sources beside it. */
  refs: ReadonlyMap<string, string>;
}

const HELM: Readonly<Record<string, string | true>> = {
  ...{ values: true, valuesObject: true, parameters: true, valueFiles: true, ignoreMissingValueFiles: true },
  ...{ releaseName: true, skipCrds: true, version: true, skipTests: true, skipSchemaValidation: true, namespace: true },
  fileParameters: 'the content of these files counts no longer: copy it into spec.values',
  passCredentials: 'credentials go to the host of the source alone',
  kubeVersion: 'the version of the cluster counts',
  apiVersions: 'what the cluster serves counts',
};

/** All values of a Helm source as one map, weakest first: files, `values` or `valuesObject`, parameters. */
export function valuesOfSource(
  helm: unknown,
  where: string,
  files: ValueFiles,
  world: World,
  leave: Leave,
): JsonObject {
  leaveFields(helm, HELM, where, leave);
  const fromFiles = textsAt(helm, 'valueFiles').map((file) => fileOf(file, where, files, world, leave, helm));
  const inline = mapAt(helm, 'valuesObject') ?? documentOf(textAt(helm, 'values'), `${where}.values`, world, leave);
  const merged = [...fromFiles, inline].reduce(mergeValues, {});
  return listAt(helm, 'parameters').reduce<JsonObject>((values, parameter, index) => {
    const [name, value] = [textAt(parameter, 'name') ?? '', at(parameter, 'value')];
    const outcome = setValue(values, name, typeof value === 'string' ? value : '');
    const at_ = `${where}.parameters[${index}]`;
    if (!outcome.ok) {
      leave(at_, outcome.message);
      return values;
    }
    if (!isOn(parameter, 'forceString')) return outcome.values;
    // A text that no one would take for anything else marks the place, whatever the path looks like.
    const marked = setValue(values, name, MARK);
    return marked.ok ? (replaced(marked.values, String(value ?? '')) as JsonObject) : values;
  }, merged);
}

const MARK = '\u0000 the value \u0000';

function replaced(value: Json, text: string): Json {
  if (value === MARK) return text;
  if (Array.isArray(value)) return value.map((one) => replaced(one, text));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, text)]));
}

function fileOf(file: string, where: string, files: ValueFiles, world: World, leave: Leave, helm: unknown): JsonObject {
  const [, ref, rest = ''] = /^\$([^/]+)\/(.*)$/.exec(file) ?? [];
  const url = ref === undefined ? files.own.url : files.refs.get(ref);
  const path =
    ref !== undefined ? cleanPath(rest) : cleanPath(file.startsWith('/') ? file : `${files.own.path}/${file}`);
  const checkout = url === undefined ? undefined : world.checkout(url);
  if (path === undefined || checkout === undefined) {
    const again = url === undefined ? '' : `, or import again with --checkout ${url}=<folder>`;
    leave(`${where}.valueFiles`, `the values of ${file} are not carried: copy them into spec.values${again}`);
    return {};
  }
  const text = checkout.read(path);
  if (text === undefined) {
    if (!isOn(helm, 'ignoreMissingValueFiles'))
      leave(`${where}.valueFiles`, `there is no ${path} in the checkout of ${url}`);
    return {};
  }
  leave(
    `${where}.valueFiles`,
    `the values of ${file} were copied into spec.values: from now on they are changed there`,
  );
  return documentOf(text, `${where}.valueFiles`, world, leave);
}

function documentOf(text: string | undefined, where: string, world: World, leave: Leave): JsonObject {
  if (text === undefined) return {};
  try {
    const [document] = world.parseYaml(text);
    if (document === undefined || document === null) return {};
    if (isMap(document)) return document;
  } catch {
    // Said below: what the parser says may quote a secret.
  }
  leave(where, 'it is no YAML map of values');
  return {};
}
