import { describeRef, refOf } from '../api/objects.ts';
import { readAs } from '../api/read.ts';
import type { Declared } from '../declare/declarations.ts';
import type { Fault } from '../declare/fault.ts';
import { describeSchemaFault, parameterSchemaFaults } from '../resolve/parameter-schema.ts';
import { checkParameters } from '../resolve/parameters.ts';

/**
 * What is wrong with extensions, and with what instances ask of those that are declared beside them. Other extensions may
 * be in the cluster: of those nothing can be said here.
 */
export function catalogueFaults(objects: readonly Declared[]): Fault[] {
  const extensions = extensionsIn(objects);
  const broken = [...extensions.values()].flatMap(({ declared, extension }) =>
    parameterSchemaFaults(extension.spec.parameters ?? {}).map((fault) =>
      faultAt(declared, `/spec/parameters${fault.path}`, describeSchemaFault(fault)),
    ),
  );
  const refused = ofKind(objects, 'ExtensionInstance').flatMap((declared) => {
    const { spec } = readAs(declared.object, 'ExtensionInstance');
    const schema = extensions.get(spec.extension)?.extension.spec.parameters;
    if (schema === undefined || parameterSchemaFaults(schema).length > 0) return [];
    const found = checkParameters(schema, spec.parameters ?? {}, { moreValues: (spec.valuesFrom ?? []).length > 0 });
    return found.map(({ path, message }) => faultAt(declared, `/spec/parameters${path}`, `parameter ${message}`));
  });
  return [...broken, ...refused, ...twinFaults(objects)];
}

/** An instance becomes a Plugin of its name: two of them can't be. */
function twinFaults(objects: readonly Declared[]): Fault[] {
  const keyOf = ({ object: { metadata } }: Declared): string => `${metadata.namespace}/${metadata.name}`;
  const plugins = new Map(ofKind(objects, 'Plugin').map((declared) => [keyOf(declared), declared] as const));
  return ofKind(objects, 'ExtensionInstance').flatMap((declared) => {
    const twin = plugins.get(keyOf(declared));
    if (twin === undefined) return [];
    const { file, line } = twin.origin;
    const message = `becomes Plugin ${keyOf(declared)}, which ${file}:${line} declares: rename one of them`;
    return [faultAt(declared, '/metadata/name', message)];
  });
}

/** The Plugins that instances become: others may depend on them. */
export function pluginsOfInstances(
  objects: readonly Declared[],
  namespace: string,
): { name: string; namespace: string }[] {
  const asked = ofKind(objects, 'ExtensionInstance').map(({ object: { metadata } }) => metadata);
  const implied = [...extensionsIn(objects).values()].flatMap(({ extension: { metadata, spec } }) =>
    spec.class === 'default' || spec.class === 'system' ? [{ name: metadata.name, namespace }] : [],
  );
  return [...asked, ...implied].map((one) => ({ name: one.name, namespace: one.namespace ?? namespace }));
}

function extensionsIn(objects: readonly Declared[]) {
  return new Map(
    ofKind(objects, 'Extension').map((declared) => {
      const extension = readAs(declared.object, 'Extension');
      return [extension.metadata.name, { declared, extension }] as const;
    }),
  );
}

function ofKind(objects: readonly Declared[], kind: string): Declared[] {
  return objects.filter(({ object }) => object.kind === kind);
}

/** A fault of a declaration, where it says what is at fault. */
export function faultAt(declared: Declared, path: string, message: string): Fault {
  const { file, line, column } = declared.locate(path);
  const object = describeRef(refOf(declared.object));
  return { code: 'InvalidDeclaration', file, line, column, path, message, object };
}
