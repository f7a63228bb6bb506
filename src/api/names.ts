/** The API group of every kind of ours, and the prefix of our labels and annotations. */
export const GROUP = 'espalier.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Server-side apply manager of everything that a Plugin declares. One for all plugins: a move from one to another keeps fields exact. */
export const FIELD_MANAGER = 'espalier';
/** Server-side apply manager of what belongs to a Helm release: that of Helm, so that `helm` and the agent may take turns. */
export const HELM_MANAGER = 'helm';
/** Manager of the Plugins and other objects of ours that a Sync writes. */
export const SYNC_MANAGER = 'espalier-sync';
/** Manager of status and finalizers, which no declaration may set. */
export const CONTROLLER_MANAGER = 'espalier-controller';

export const LABEL = {
  /** Name and namespace of the Plugin that owns an object; on every applied object. */
  plugin: `${GROUP}/plugin`,
  pluginNamespace: `${GROUP}/plugin-namespace`,
  /** Name and namespace of the Sync that wrote a Plugin. */
  sync: `${GROUP}/sync`,
  syncNamespace: `${GROUP}/sync-namespace`,
  /** `system` tells built-in add-ons from others. */
  class: `${GROUP}/class`,
  /** Of a cluster, in its Sync: `management` for the one that packages which are not passed through stay on. */
  role: `${GROUP}/role`,
  /** On a Plugin that was made of another system's object in the cluster: `kubegems`. */
  compat: `${GROUP}/compat`,
  /** On the record of a Helm release: the Plugin that wrote it, what it was made from, and which try it was. Helm copies them. */
  owner: `${GROUP}/owner`,
  ownerNamespace: `${GROUP}/owner-namespace`,
  key: `${GROUP}/key`,
  attempt: `${GROUP}/attempt`,
  /** On a Plugin that an ExtensionInstance of its namespace stands for: the instance and its Extension. */
  instance: `${GROUP}/instance`,
  extension: `${GROUP}/extension`,
  /** On everything of an expansion package, and on the record of what it delegates: the name of its Plugin. */
  expansion: `${GROUP}/expansion`,
} as const;

/** What Helm writes on every object of a release. */
export const HELM_LABEL = 'app.kubernetes.io/managed-by';
export const HELM_ANNOTATION = {
  release: 'meta.helm.sh/release-name',
  namespace: 'meta.helm.sh/release-namespace',
} as const;

export const ANNOTATION = {
  /** On a Plugin: the commit that last touched its inputs. */
  commit: `${GROUP}/commit`,
  /** On what a Sync writes: hash of everything it was made from. Same hash, nothing to write. */
  inputs: `${GROUP}/inputs`,
  /** On a Plugin: where it was declared, `path:line`. */
  origin: `${GROUP}/origin`,
  /** On a Sync: a commit whose held removals are approved. */
  approve: `${GROUP}/approve`,
  /** On a Sync or Plugin: any new value asks for a reconcile now. */
  reconcileAt: `${GROUP}/reconcile-at`,
  /** On an existing object, or in a Plugin's declaration of one: `true` allows taking it over. */
  adopt: `${GROUP}/adopt`,
  /** On an object that a Plugin renders: apply it once for this key, and leave it alone when it has run. */
  once: `${GROUP}/once`,
  /** On the pods of a hook of an expansion package: which script it is. */
  script: `${GROUP}/script`,
  /** On a Plugin made for an ExtensionInstance: the application version that it is. */
  extensionVersion: `${GROUP}/extension-version`,
  /** On an ExtensionInstance: the application version that a person consents to. */
  approveVersion: `${GROUP}/approve-version`,
  /** On an ExtensionInstance that nobody wrote: the class of the Extension that calls for it. */
  impliedBy: `${GROUP}/implied-by`,
  /** On a Plugin of no Sync's revision: the Sync (`namespace/name`) whose values, account and rules it takes. */
  factsOf: `${GROUP}/facts-of`,
  /** On the record of what an expansion delegates: the conditions, and the custom object that has them instead of the record. */
  delegated: `${GROUP}/delegated`,
  conditionsOn: `${GROUP}/conditions-on`,
} as const;

export const FINALIZER = `${GROUP}/finalizer`;

export const CONDITION = {
  Ready: 'Ready',
  Applied: 'Applied',
  Healthy: 'Healthy',
  Drifted: 'Drifted',
  Waiting: 'Waiting',
  Held: 'Held',
  /** On a Sync: present while its forge can't be told or asked. */
  Unanswered: 'Unanswered',
  /** kstatus: present while the controller works towards the declared state. */
  Reconciling: 'Reconciling',
  /** kstatus: present while something must change before it can go on. */
  Stalled: 'Stalled',
} as const;
