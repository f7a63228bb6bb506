import { EXTENSION_SPEC, type Extension } from './kinds/extension.ts';
import { type ExtensionInstance, INSTANCE_SPEC } from './kinds/extension-instance.ts';
import { EXTENSION_STATUS, INSTANCE_STATUS } from './kinds/extension-status.ts';
import { PLUGIN_SPEC, type Plugin } from './kinds/plugin.ts';
import { PLUGIN_STATUS } from './kinds/plugin-status.ts';
import { SYNC_SPEC, type Sync } from './kinds/sync.ts';
import { SYNC_STATUS } from './kinds/sync-status.ts';
import { LABEL } from './names.ts';
import type { Schema } from './schema.ts';

/** A column of `kubectl get`. Those with priority 1 show with `-o wide`. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'date';
  jsonPath: string;
  description: string;
  priority?: 1;
}

export interface KindDefinition {
  /** Absent: ours. */
  apiVersion?: string;
  kind: keyof KindTypes;
  plural: string;
  shortNames: string[];
  scope: 'Namespaced' | 'Cluster';
  description: string;
  spec: Schema;
  status: Schema;
  columns: Column[];
}

export interface KindTypes {
  Sync: Sync;
  Plugin: Plugin;
  Extension: Extension;
  ExtensionInstance: ExtensionInstance;
}

export type KindName = keyof KindTypes;

const READY: Column = {
  name: 'Ready',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  description: 'Whether it is applied and healthy.',
};
const AGE: Column = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'When it was created.',
};
/** Tells what is built in from all else. */
const CLASS: Column = {
  name: 'Class',
  type: 'string',
  jsonPath: `.metadata.labels.${LABEL.class.replaceAll('.', '\\.')}`,
  description: 'system: built in, and not to be removed.',
};
const WHY: Column = {
  name: 'Why',
  type: 'string',
  jsonPath: '.status.message',
  description: 'Why it is in this state.',
};

const SYNC: KindDefinition = {
  kind: 'Sync',
  plural: 'syncs',
  shortNames: ['syn'],
  scope: 'Namespaced',
  description: 'One repository, ref and path that this cluster follows.',
  spec: SYNC_SPEC,
  status: SYNC_STATUS,
  columns: [
    READY,
    { name: 'Commit', type: 'string', jsonPath: '.status.commit', description: 'Commit that is applied.' },
    { name: 'Up', type: 'integer', jsonPath: '.status.plugins.ready', description: 'How many Plugins are ready.' },
    { name: 'Plugins', type: 'integer', jsonPath: '.status.plugins.total', description: 'How many Plugins there are.' },
    AGE,
    WHY,
    {
      name: 'URL',
      type: 'string',
      jsonPath: '.spec.repository.url',
      description: 'URL of the repository.',
      priority: 1,
    },
  ],
};

const PLUGIN: KindDefinition = {
  kind: 'Plugin',
  plural: 'plugins',
  shortNames: ['plg'],
  scope: 'Namespaced',
  description: 'One installed thing: a Helm chart, a kustomization or manifests.',
  spec: PLUGIN_SPEC,
  status: PLUGIN_STATUS,
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.status.revision.version', description: 'Version that is applied.' },
    READY,
    {
      name: 'Drift',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Drifted")].status',
      description: 'Whether somebody else changed its objects.',
    },
    CLASS,
    AGE,
    WHY,
    { name: 'Kind', type: 'string', jsonPath: '.spec.kind', description: 'What it is made of.', priority: 1 },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Where it stands.', priority: 1 },
    {
      name: 'Commit',
      type: 'string',
      jsonPath: '.status.revision.commit',
      description: 'Commit that last touched it.',
      priority: 1,
    },
  ],
};

const EXTENSION: KindDefinition = {
  kind: 'Extension',
  plural: 'extensions',
  shortNames: ['ext'],
  scope: 'Cluster',
  description: 'Something that can be installed: an entry of the catalogue.',
  spec: EXTENSION_SPEC,
  status: EXTENSION_STATUS,
  columns: [
    { name: 'Title', type: 'string', jsonPath: '.spec.displayName', description: 'Name for people.' },
    { name: 'Class', type: 'string', jsonPath: '.spec.class', description: 'Where it is installed.' },
    { name: 'Category', type: 'string', jsonPath: '.spec.category', description: 'Group that lists show it in.' },
    READY,
    AGE,
  ],
};

const EXTENSION_INSTANCE: KindDefinition = {
  kind: 'ExtensionInstance',
  plural: 'extensioninstances',
  shortNames: ['exti'],
  scope: 'Namespaced',
  description: 'One extension, with these parameters, on this cluster. It becomes one Plugin.',
  spec: INSTANCE_SPEC,
  status: INSTANCE_STATUS,
  columns: [
    { name: 'Extension', type: 'string', jsonPath: '.spec.extension', description: 'Name of the Extension.' },
    { name: 'Wanted', type: 'string', jsonPath: '.spec.version', description: 'Version that was asked for.' },
    { name: 'Version', type: 'string', jsonPath: '.status.version', description: 'Version that is installed.' },
    CLASS,
    READY,
    AGE,
    { ...WHY, jsonPath: '.status.why', description: 'Why this version, or why none.' },
    {
      name: 'Plugin',
      type: 'string',
      jsonPath: '.status.plugin.name',
      description: 'The Plugin it became.',
      priority: 1,
    },
  ],
};

/** Every kind of ours, in the order that people meet them. */
export const KINDS: readonly KindDefinition[] = [SYNC, PLUGIN, EXTENSION, EXTENSION_INSTANCE];

export function kindDefinition(kind: string): KindDefinition | undefined {
  return KINDS.find((definition) => definition.kind === kind);
}
