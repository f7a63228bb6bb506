import type { KubeObject } from '../objects.ts';
import type { Complete, Schema, Written } from '../schema.ts';
import { EXPANSION_RULES, EXPANSION_STEPS } from './expansion.ts';
import { DURATION_FIELD, FREE_FORM, LABEL_NAME_FIELD, NAME_FIELD, SCHEDULE_FIELD } from './parts.ts';
import {
  APPLY,
  DELETION,
  DEPENDENCY,
  DRIFT,
  GATE,
  HEALTH_CHECK,
  PATCH,
  UPGRADE,
  VALUES_FROM,
  WHEN,
} from './plugin-rules.ts';
import type { PluginStatus } from './plugin-status.ts';
import { SOURCE } from './source.ts';

export const PLUGIN_SPEC = {
  type: 'object',
  required: ['kind', 'source'],
  description: 'What shall be installed, and how.',
  properties: {
    enabled: {
      type: 'boolean',
      default: true,
      description: 'false removes what is installed, as if the Plugin had been deleted.',
    },
    suspend: {
      type: 'boolean',
      default: false,
      description: 'true leaves everything as it is: nothing is applied, repaired or removed.',
    },
    kind: {
      type: 'string',
      enum: ['helm', 'kustomize', 'manifests', 'template', 'expansion'],
      description:
        'helm: a Helm release. kustomize: a kustomization. manifests: plain YAML. template: a chart that is only rendered and whose objects are applied, such as one made of Plugins. expansion: an expansion package, which becomes Plugins for its charts, hooks and operator.',
    },
    source: { ...SOURCE, description: 'Where it comes from: one of chart, oci, git and download.' },
    poll: {
      ...SCHEDULE_FIELD,
      default: '5m',
      description: "How often a source outside the Sync's repository is looked at: a duration or a cron expression.",
    },
    namespace: {
      type: 'object',
      required: ['name'],
      description: "Namespace that its objects go to. Absent: the Plugin's own.",
      properties: {
        name: { ...LABEL_NAME_FIELD, description: 'Name of the namespace.' },
        create: { type: 'boolean', default: false, description: 'Create the namespace when it does not exist.' },
      },
    },
    defaults: {
      ...FREE_FORM,
      description:
        'Values that everything else overrides: the parameters of an add-on folder stand here. Written by Espalier, not by people.',
    },
    schema: {
      ...FREE_FORM,
      description:
        'JSON Schema that the values of its templates must fit: that of an add-on folder stands here. Written by Espalier, not by people.',
    },
    parameters: {
      ...FREE_FORM,
      description:
        'Values that an Extension gives: over those of the Sync, under valuesFrom and values. Written by Espalier, not by people.',
    },
    values: {
      ...FREE_FORM,
      description: 'Values for the chart or the templates. They win over valuesFrom and the values of the Sync.',
    },
    valuesFrom: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      items: VALUES_FROM,
      description: 'Values from ConfigMaps and Secrets. Later ones win; a change there is applied at once.',
    },
    patches: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      items: PATCH,
      description: 'Changes to rendered objects, in order.',
    },
    dependsOn: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      items: DEPENDENCY,
      description: 'Plugins and objects that must be ready first. Removal goes the other way round.',
    },
    gates: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      items: GATE,
      description: 'Conditions that somebody else must make true before anything is applied.',
    },
    when: { ...WHEN, description: 'Where and when it is installed. Where it does not match it is removed.' },
    health: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      items: HEALTH_CHECK,
      description: 'When objects of a kind count as healthy. Kinds not listed follow the usual rules.',
    },
    apply: { ...APPLY, description: 'What may be taken over from others.' },
    drift: { ...DRIFT, description: 'What happens when somebody changes an object of the Plugin by hand.' },
    deletion: { ...DELETION, description: 'What may be deleted.' },
    upgrade: { ...UPGRADE, description: 'How new versions are taken.' },
    timeout: {
      ...DURATION_FIELD,
      default: '5m',
      description: 'How long rendering, applying and becoming healthy may each take.',
    },
    allowEmpty: {
      type: 'boolean',
      default: false,
      description: 'Consent to rendering no object at all. Otherwise the Plugin is held then, and keeps what it has.',
    },
    expansion: { ...EXPANSION_RULES, description: 'How an expansion package is installed (kind expansion).' },
    step: {
      type: 'string',
      enum: EXPANSION_STEPS,
      description:
        'The one part of the expansion package that this Plugin is. Absent: the whole package. Written by Espalier, not by people.',
    },
    serviceAccountName: {
      ...NAME_FIELD,
      description:
        "Service account in the Plugin's namespace whose rights rendering and applying have. Absent: that of the Sync.",
    },
  },
  'x-kubernetes-validations': [
    {
      rule: "self.kind in ['helm', 'template', 'expansion'] || has(self.source.git) || has(self.source.download)",
      message: 'kind kustomize and kind manifests need source.git, a folder in Git, or source.download',
      fieldPath: '.source',
    },
    {
      rule: "self.kind != 'expansion' || has(self.source.git) || has(self.source.oci)",
      message: 'kind expansion needs source.git, a folder with expansion.yaml or a .tgz of one, or source.oci',
      fieldPath: '.source',
    },
    {
      rule: "self.kind in ['helm', 'template'] || !has(self.source.git) || !has(self.source.git.inside)",
      message: 'source.git.inside is for the charts of kinds helm and template only',
      fieldPath: '.source.git.inside',
    },
    {
      rule: "self.kind in ['helm', 'template'] || !has(self.source.oci) || !has(self.source.oci.inside)",
      message: 'source.oci.inside is for the charts of kinds helm and template only',
      fieldPath: '.source.oci.inside',
    },
    {
      rule: "!has(self.expansion) || self.kind == 'expansion'",
      message: 'expansion is for kind expansion only',
      fieldPath: '.expansion',
    },
    {
      rule: "!has(self.step) || self.kind == 'expansion'",
      message: 'step is for kind expansion only',
      fieldPath: '.step',
    },
    {
      rule: "self.kind == 'manifests' || !has(self.source.git) || !has(self.source.git.template) || !self.source.git.template",
      message: 'source.git.template is for kind manifests only',
      fieldPath: '.source.git.template',
    },
    {
      rule: "self.kind == 'manifests' || !has(self.source.download) || !has(self.source.download.template) || !self.source.download.template",
      message: 'source.download.template is for kind manifests only',
      fieldPath: '.source.download.template',
    },
  ],
} as const satisfies Schema;

export type PluginSpec = Complete<typeof PLUGIN_SPEC>;

export interface Plugin extends KubeObject {
  kind: 'Plugin';
  spec: PluginSpec;
  status?: PluginStatus;
}

/** A Plugin as people write it, without the defaults. */
export interface PluginDeclaration extends KubeObject {
  kind: 'Plugin';
  spec: Written<typeof PLUGIN_SPEC>;
}
