import {
  ANNOTATION,
  API_VERSION,
  type Extension,
  type ExtensionInstance,
  type JsonObject,
  LABEL,
  type PluginDeclaration,
} from '../api/index.ts';
import { suggest } from '../api/validate/suggest.ts';
import type { Violation } from '../api/validate/violation.ts';
import { chooseVersion } from './choose-version.ts';
import { type Candidate, candidatesOf, sameApp, type Tags } from './extension-versions.ts';
import { describeSchemaFault, parameterSchemaFaults } from './parameter-schema.ts';
import { checkParameters, parameterDefaults } from './parameters.ts';

/** What is there of an instance now. */
export interface Installed {
  /** Application version of its Plugin. */
  version: string;
  /** It is healthy there: a further step may follow. */
  isReady: boolean;
}

export interface InstanceInput {
  instance: ExtensionInstance;
  /** By name: what the catalogue holds. */
  extension(name: string): Extension | undefined;
  /** Names in the catalogue, to suggest one. */
  names(): Iterable<string>;
  /** `gitVersion` of the API server; undefined while it is not known. */
  kubernetes: string | undefined;
  tags: Tags;
  installed: Installed | undefined;
  /** Whether upgrades may begin now. Undefined where the instance has no window. */
  window: { open: true } | { open: false; opensAt: number } | undefined;
  /** The Plugins of the instances of an extension, for who depends on it. */
  instancesOf(extension: string): readonly { namespace: string; name: string }[];
}

export interface Outlook {
  /** Application version that its Plugin is, or shall be made from; absent where there is none. */
  version?: string;
  why: string;
  /** Other versions that fit, newest first. */
  available: string[];
  next?: { version: string; waitsFor: string };
  /** When time alone changes the answer. */
  until?: number;
}

export type ResolvedInstance =
  | ({ state: 'made'; plugin: PluginDeclaration } & Outlook)
  /** What is installed stays exactly as it is: nothing in the catalogue says what it should be now. */
  | ({ state: 'left'; version: string } & Outlook)
  /** Nothing is installed, and nothing can be yet: the cluster or a registry must say more, or fit. */
  | ({ state: 'none' } & Outlook)
  /** The instance, or the Extension, must be corrected. */
  | ({ state: 'refused'; faults: { path: string; message: string; in: 'instance' | 'extension' }[] } & Outlook);

/** The Plugin that an instance stands for, in its namespace and with its name; or why there is none. Pure. */
export function resolveInstance(input: InstanceInput): ResolvedInstance {
  const { instance, installed } = input;
  const nothing: Outlook = { why: '', available: [] };
  const keep = (outlook: Outlook): ResolvedInstance =>
    installed === undefined
      ? { ...outlook, state: 'none' }
      : { ...outlook, why: `${installed.version} stays: ${outlook.why}`, state: 'left', version: installed.version };
  const extension = input.extension(instance.spec.extension);
  if (extension === undefined) return missing(input, keep);
  const faults = faultsOf(instance, extension);
  const [fault] = faults;
  if (fault !== undefined) return { ...nothing, state: 'refused', faults, why: fault.message };
  const absent = (extension.spec.dependsOn ?? []).find((name) => input.instancesOf(name).length === 0);
  if (absent !== undefined) {
    const message = `extension ${extension.metadata.name} needs extension ${absent}, of which nothing is installed: install it too`;
    // Also where it is installed: as a fault it holds back the removal of what it needs.
    const faults = [{ path: '/spec/extension', message, in: 'instance' as const }];
    return { ...nothing, state: 'refused', why: message, faults };
  }
  if (input.kubernetes === undefined)
    return keep({ ...nothing, why: "the cluster's Kubernetes version is not known yet" });
  const { all, unknown } = candidatesOf(extension, input.kubernetes, input.tags);
  const chosen = chooseVersion({
    wanted: instance.spec.version,
    candidates: all,
    installed: installed?.version,
    kubernetes: input.kubernetes,
  });
  const fitting = all.filter(({ fits }) => fits).map(({ app }) => app);
  const offered = (version: string | undefined): string[] =>
    fitting.filter((app) => version === undefined || !sameApp(app, version));
  // An older version that is known fits as well: a registry that does not answer must not take an instance back.
  if (unknown !== undefined) return keep({ why: unknown, available: offered(installed?.version) });
  if (chosen.state === 'none') return keep({ why: chosen.why, available: offered(installed?.version) });
  const { candidate, goal, why } = chosen;
  const make = (one: Candidate, outlook: Omit<Outlook, 'available' | 'version'>): ResolvedInstance => ({
    ...outlook,
    state: 'made',
    version: one.app,
    available: offered(one.app),
    plugin: pluginFor(input, extension, one),
  });
  if (installed === undefined) return make(goal, { why });
  if (sameApp(installed.version, candidate.app)) return make(candidate, { why });
  const wait = whatItWaitsFor(input, candidate, installed);
  if (wait !== undefined) {
    const next = { version: candidate.app, waitsFor: wait.for };
    const current = all.find(({ app }) => sameApp(app, installed.version));
    const outlook = { why: `${installed.version} stays until ${wait.for}; ${why}`, next };
    const timed = wait.until === undefined ? outlook : { ...outlook, until: wait.until };
    if (current !== undefined) return make(current, timed);
    return { ...timed, state: 'left', version: installed.version, available: offered(installed.version) };
  }
  const next = candidate === goal ? {} : { next: { version: goal.app, waitsFor: `${candidate.app} to be ready` } };
  return make(candidate, { why, ...next });
}

/** Removing an entry of the catalogue uninstalls nothing. */
function missing(
  { instance, names, installed }: InstanceInput,
  keep: (outlook: Outlook) => ResolvedInstance,
): ResolvedInstance {
  const name = instance.spec.extension;
  if (installed !== undefined) return keep({ why: `the catalogue no longer has an extension ${name}`, available: [] });
  const meant = suggest(name, [...names()]);
  const message = `there is no extension "${name}"${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  return {
    state: 'refused',
    why: message,
    available: [],
    faults: [{ path: '/spec/extension', message, in: 'instance' }],
  };
}

function faultsOf(instance: ExtensionInstance, extension: Extension) {
  const { parameters: schema } = extension.spec;
  const broken = schema === undefined ? [] : parameterSchemaFaults(schema);
  if (broken.length > 0)
    return broken.map((fault) => ({
      path: `/spec/parameters${fault.path}`,
      message: `extension ${extension.metadata.name}: ${describeSchemaFault(fault)}`,
      in: 'extension' as const,
    }));
  const moreValues = (instance.spec.valuesFrom ?? []).length > 0;
  const found: Violation[] = checkParameters(schema, instance.spec.parameters ?? {}, { moreValues });
  const faults = found.map(({ path, message }) => ({
    path: `/spec/parameters${path}`,
    message: `parameter ${message}`,
    in: 'instance' as const,
  }));
  if (extension.spec.class !== 'system' || instance.spec.enabled) return faults;
  const message = `extension ${extension.metadata.name} is a system extension: it can't be switched off`;
  return [...faults, { path: '/spec/enabled', message, in: 'instance' as const }];
}

function whatItWaitsFor(
  { instance, window }: InstanceInput,
  candidate: Candidate,
  installed: Installed,
): { for: string; until?: number } | undefined {
  const { name, namespace = '', annotations } = instance.metadata;
  const approved = annotations?.[ANNOTATION.approveVersion];
  if (instance.spec.upgrade.approval === 'required' && (approved === undefined || !sameApp(approved, candidate.app)))
    return {
      for: `somebody approves it: espalier extensions upgrade ${name} -n ${namespace} --approve ${candidate.app}`,
    };
  if (window !== undefined && !window.open)
    return { for: `its window opens at ${new Date(window.opensAt).toISOString()}`, until: window.opensAt };
  // One step at a time: what a step in between has not finished, the next would break.
  if (candidate.from !== undefined && !installed.isReady) return { for: `${installed.version} is ready` };
  return undefined;
}

function pluginFor(
  { instance, instancesOf }: InstanceInput,
  extension: Extension,
  version: Candidate,
): PluginDeclaration {
  const { metadata, spec } = instance;
  const { name } = extension.metadata;
  const { kind, ...template } = extension.spec.plugin;
  const parameters = parameterDefaults(extension.spec.parameters);
  const needs = (extension.spec.dependsOn ?? []).flatMap((one) => instancesOf(one));
  return {
    apiVersion: API_VERSION,
    kind: 'Plugin',
    metadata: {
      name: metadata.name,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      labels: {
        [LABEL.instance]: metadata.name,
        [LABEL.extension]: name,
        ...(extension.spec.class === 'system' ? { [LABEL.class]: 'system' } : {}),
      },
      annotations: { [ANNOTATION.extensionVersion]: version.app },
    },
    spec: {
      ...template,
      kind,
      source: version.source,
      ...(spec.enabled ? {} : { enabled: false }),
      ...(isEmpty(parameters) ? {} : { parameters }),
      ...(isEmpty(spec.parameters) ? {} : { values: spec.parameters }),
      ...(spec.valuesFrom === undefined ? {} : { valuesFrom: spec.valuesFrom }),
      ...(needs.length === 0 ? {} : { dependsOn: needs.map((one) => ({ name: one.name, namespace: one.namespace })) }),
    },
  };
}

function isEmpty(values: JsonObject | undefined): boolean {
  return values === undefined || Object.keys(values).length === 0;
}
