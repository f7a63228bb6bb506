import type { KubeObject } from '../objects.ts';
import { RANGE } from '../patterns.ts';
import type { Complete, Schema, Written } from '../schema.ts';
import type { ExtensionInstanceStatus } from './extension-status.ts';
import { APPROVAL, FREE_FORM, LABEL_NAME_FIELD, WINDOW } from './parts.ts';
import { VALUES_FROM } from './plugin-rules.ts';

export const INSTANCE_SPEC = {
  type: 'object',
  required: ['extension'],
  description: 'Which extension, and how.',
  properties: {
    extension: { ...LABEL_NAME_FIELD, description: 'Name of the Extension.' },
    enabled: {
      type: 'boolean',
      default: true,
      description:
        'false removes what is installed, and keeps a default extension off this cluster. A system extension stays.',
    },
    version: {
      type: 'string',
      maxLength: 256,
      default: 'auto',
      description:
        'auto: the newest that fits the Kubernetes version, moving along with it. Or a range, or one version.',
      'x-kubernetes-validations': [
        {
          rule: `self.matches('^(auto|${RANGE})$')`,
          message: 'must be auto, a version, or a range of versions such as "~1.18"',
        },
      ],
    },
    parameters: { ...FREE_FORM, description: "Values for the extension's parameters." },
    valuesFrom: {
      type: 'array',
      maxItems: 100,
      'x-kubernetes-list-type': 'atomic',
      items: VALUES_FROM,
      description:
        "Values from ConfigMaps and Secrets in the instance's namespace: over the defaults of the extension, under the parameters.",
    },
    upgrade: {
      type: 'object',
      default: {},
      description: 'How new versions are taken.',
      properties: {
        approval: { ...APPROVAL, description: 'required: a new version waits until a person approves it.' },
        window: { ...WINDOW, description: 'When upgrades may begin. Absent: at any time.' },
      },
    },
  },
} as const satisfies Schema;

export type ExtensionInstanceSpec = Complete<typeof INSTANCE_SPEC>;

export interface ExtensionInstance extends KubeObject {
  kind: 'ExtensionInstance';
  spec: ExtensionInstanceSpec;
  status?: ExtensionInstanceStatus;
}

/** An ExtensionInstance as people write it, without the defaults. */
export interface ExtensionInstanceDeclaration extends KubeObject {
  kind: 'ExtensionInstance';
  spec: Written<typeof INSTANCE_SPEC>;
}
