import { createHash } from 'node:crypto';
import {
  ANNOTATION,
  delegationRecord,
  EspalierError,
  type ExpansionStep,
  groupOf,
  type Json,
  type JsonObject,
  type KubeObject,
  LABEL,
  type ObjectRef,
  operatorRules,
  type Plugin,
  type PolicyRule,
  parseDuration,
  safeName,
} from '../api/index.ts';
import { delegationOf, expansionName, LONGEST_NAME, targetOf, versionOf } from './parts.ts';
import type { HookName, ReadPackage } from './read-package.ts';

export interface StepInput {
  /** That of the step. */
  plugin: Plugin;
  step: ExpansionStep;
  package: ReadPackage;
  values: JsonObject;
  /** The hook's script, filled with the values where it is a template; undefined for the operator. */
  script: Uint8Array | undefined;
  /** Values that came from Secrets may stand in it. */
  hasSecrets: boolean;
}

const SHELL_IMAGE = 'docker.io/library/busybox:1.37';
const SCRIPTS = '/espalier/hooks';
/** May change everything in its namespace but who may do what. */
const EDITOR = 'edit';

/** What one step of a package applies: a hook's Job with its script, or the operator. */
export function expandStep(input: StepInput): KubeObject[] {
  return input.step === 'operator' ? operatorObjects(input) : hookObjects(input, input.step);
}

function hookObjects(input: StepInput, step: HookName): KubeObject[] {
  const { plugin, package: found, script, hasSecrets } = input;
  if (script === undefined)
    throw new EspalierError('ExpansionInvalid', `the package has no hook ${step} any more`, { retry: false });
  const account = plugin.metadata.name;
  const version = versionOf(found);
  // Pods are named after it, and their names hold no dots.
  const name = safeName(`${account}-${version.replaceAll('.', '-')}`, LONGEST_NAME);
  const labels = { [LABEL.expansion]: expansionName(plugin) };
  const text = Buffer.from(script).toString('utf8');
  const data = { [step]: text };
  const mode = { defaultMode: 0o555 };
  const file: KubeObject = hasSecrets
    ? { apiVersion: 'v1', kind: 'Secret', metadata: { name, labels }, type: 'Opaque', stringData: data }
    : { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data };
  const volume = hasSecrets ? { secret: { secretName: name, ...mode } } : { configMap: { name, ...mode } };
  const container = {
    name: 'hook',
    image: hookImage(input),
    command: [`${SCRIPTS}/${step}`],
    env: environment(plugin, version),
    volumeMounts: [{ name: 'hooks', mountPath: SCRIPTS, readOnly: true }],
  };
  const once = `${found.expansion.expansion_name ?? expansionName(plugin)}-${version}`;
  const job: KubeObject = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels, annotations: { [ANNOTATION.once]: once } },
    spec: {
      // Whether a script may run twice only its author knows.
      backoffLimit: 0,
      template: {
        // So that a mended script is another declaration of the Job, and one that failed runs anew.
        metadata: { labels, annotations: { [ANNOTATION.script]: scriptId(input, step) } },
        spec: {
          restartPolicy: 'Never',
          // A deadline of the Job would take its pod away, and with it what the hook had to say.
          activeDeadlineSeconds: Math.max(1, Math.ceil(parseDuration(plugin.spec.timeout) / 1000)),
          serviceAccountName: account,
          containers: [container],
          volumes: [{ name: 'hooks', ...volume }],
        },
      },
    },
  };
  return [...accountObjects(input, account, EDITOR), file, job];
}

/** Of a script with secret values it is the template that counts: everybody who sees Jobs could try values on its hash. */
function scriptId({ package: found, script = EMPTY, hasSecrets }: StepInput, step: HookName): string {
  const open = hasSecrets ? (found.hooks.get(step)?.script ?? EMPTY) : script;
  return createHash('sha256').update(open).digest('hex').slice(0, 16);
}

const EMPTY = new Uint8Array();

/** The image that the package's author or the platform's owner names, or one that most likely has a shell. */
function hookImage({ package: { expansion }, values: { hookImage } }: StepInput): string {
  if (typeof hookImage === 'string' && hookImage !== '') return hookImage;
  return expansion.images[0] ?? expansion.operator ?? SHELL_IMAGE;
}

function operatorObjects(input: StepInput): KubeObject[] {
  const { plugin, package: found } = input;
  const { name } = plugin.metadata;
  const delegation = delegationOf(plugin, found);
  const record = delegation === undefined ? [] : [delegationRecord(delegation)];
  const { operator } = found.expansion;
  if (operator === undefined) return record;
  const rules = operatorRules(
    delegation?.record.name ?? '',
    delegation?.on === undefined ? undefined : resourceOf(delegation.on),
  );
  const own = delegation === undefined ? rules.own.slice(0, 1) : rules.own;
  const labels = { [LABEL.expansion]: expansionName(plugin), 'app.kubernetes.io/name': name };
  const deployment: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas: 1,
      // Two of them would answer for one another.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          containers: [{ name: 'operator', image: operator, env: environment(plugin, versionOf(found)) }],
        },
      },
    },
  };
  return [
    ...accountObjects(input, name),
    ...bound(input, 'Role', { name }, own),
    ...objectRole(input, delegation?.on?.namespace, rules.object),
    ...record,
    deployment,
  ];
}

function objectRole(input: StepInput, namespace: string | undefined, rules: readonly PolicyRule[]): KubeObject[] {
  if (rules.length === 0) return [];
  const { name } = input.plugin.metadata;
  return namespace === undefined
    ? bound(input, 'ClusterRole', { name: clusterName(input) }, rules)
    : bound(input, 'Role', { name: `${name}-conditions`, namespace }, rules);
}

/** A service account, and the ClusterRole that the platform owner or else the step wants for it. */
function accountObjects({ plugin, ...input }: StepInput, name: string, local?: string): KubeObject[] {
  const labels = { [LABEL.expansion]: expansionName(plugin) };
  const account: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, labels } };
  const whole = plugin.spec.expansion?.clusterRole;
  if (whole !== undefined) {
    const metadata = { name: safeName(`${clusterName({ plugin, ...input })}-${whole}`) };
    return [
      account,
      binding({ plugin, ...input }, 'ClusterRoleBinding', metadata, { kind: 'ClusterRole', name: whole }),
    ];
  }
  if (local === undefined) return [account];
  return [account, binding({ plugin, ...input }, 'RoleBinding', { name }, { kind: 'ClusterRole', name: local })];
}

function bound(
  input: StepInput,
  kind: 'Role' | 'ClusterRole',
  metadata: { name: string; namespace?: string },
  rules: readonly PolicyRule[],
): KubeObject[] {
  const labels = { [LABEL.expansion]: expansionName(input.plugin) };
  const role: KubeObject = { apiVersion: RBAC, kind, metadata: { ...metadata, labels }, rules: [...rules] };
  return [role, binding(input, `${kind}Binding`, metadata, { kind, name: metadata.name })];
}

const RBAC = 'rbac.authorization.k8s.io/v1';

function binding(
  { plugin }: StepInput,
  kind: 'RoleBinding' | 'ClusterRoleBinding',
  metadata: { name: string; namespace?: string },
  role: { kind: 'Role' | 'ClusterRole'; name: string },
): KubeObject {
  return {
    apiVersion: RBAC,
    kind,
    metadata: { ...metadata, labels: { [LABEL.expansion]: expansionName(plugin) } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', ...role },
    subjects: [{ kind: 'ServiceAccount', name: plugin.metadata.name, namespace: targetOf(plugin) }],
  };
}

/** Names of cluster-wide objects tell the namespace too. */
function clusterName({ plugin }: Pick<StepInput, 'plugin'>): string {
  return safeName(`espalier-${targetOf(plugin)}-${plugin.metadata.name}`);
}

function environment(plugin: Plugin, version: string): Json[] {
  return [
    { name: 'ESPALIER_EXPANSION', value: expansionName(plugin) },
    { name: 'ESPALIER_EXPANSION_VERSION', value: version },
    { name: 'ESPALIER_NAMESPACE', value: targetOf(plugin) },
  ];
}

/**
 * The definition of a custom object may come with the package, so its resource can't be looked up: any of its group. Of
 * Kubernetes' own that would be the Secret of the same name too, and there the name follows from the kind.
 */
function resourceOf({ apiVersion, kind, name }: ObjectRef): { group: string; plural: string; name: string } {
  const group = groupOf(apiVersion);
  return { group, plural: group === '' ? `${kind.toLowerCase()}s` : '*', name };
}
