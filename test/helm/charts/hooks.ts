import type { ChartFiles } from '../../support/charts.ts';
import { chart } from '../../support/charts.ts';
import { configMap, type Fixture } from './fixture.ts';

export interface HookWish {
  /** `pre-install,pre-upgrade` */
  on: string;
  weight?: number;
  /** `before-hook-creation,hook-succeeded` */
  policy?: string;
}

/** The annotations of a hook, as lines of its metadata. */
export function hookLines({ on, weight, policy }: HookWish): string[] {
  return [
    'annotations:',
    `  helm.sh/hook: ${on}`,
    ...(weight === undefined ? [] : [`  helm.sh/hook-weight: "${weight}"`]),
    ...(policy === undefined ? [] : [`  helm.sh/hook-delete-policy: ${policy}`]),
  ];
}

/** A ConfigMap that says when it was made. */
export function hookMap(name: string, wish: HookWish): string {
  return configMap(name, ['moment: "{{ .Release.Revision }} {{ .Release.IsInstall }}"'], hookLines(wish));
}

export type Ending = 'succeeds' | 'fails' | 'never ends';

/** A Job: pods of these tests run nowhere; they finish by themselves, or as a label says, or have no node to go to. */
export function hookJob(name: string, wish: HookWish, ending: Ending | string = 'succeeds'): string {
  return [
    'apiVersion: batch/v1',
    'kind: Job',
    'metadata:',
    `  name: ${name}`,
    ...hookLines(wish).map((line) => `  ${line}`),
    'spec:',
    '  backoffLimit: 0',
    '  template:',
    '    metadata:',
    ...podFate(ending),
    '    spec:',
    '      restartPolicy: Never',
    ...(ending === 'never ends' ? ['      nodeSelector: {example.com/nowhere: "true"}'] : []),
    '      containers: [{name: main, image: example.com/hook:1, args: ["{{ .Release.Revision }}"]}]',
    '',
  ].join('\n');
}

function podFate(ending: string): string[] {
  const stage = 'pod-container-running-failed.stage.kwok.x-k8s.io';
  const fails = [
    `      labels: {${stage}: "true"}`,
    `      annotations: {${stage}/delay: 1ms, ${stage}/jitter-delay: 2ms, ${stage}/message: the database is away}`,
  ];
  if (ending === 'succeeds' || ending === 'never ends') return ['      labels: {app: hook}'];
  if (ending === 'fails') return fails;
  // A template decides.
  return [`      {{- if ${ending} }}`, ...fails, '      {{- else }}', '      labels: {app: hook}', '      {{- end }}'];
}

/** A test: a Pod that finishes well. Pods without a Job run for ever otherwise. */
export function testPod(name: string, policy = 'before-hook-creation'): string {
  return [
    'apiVersion: v1',
    'kind: Pod',
    'metadata:',
    `  name: ${name}`,
    '  labels: {playground.espalier.dev/completes: "true"}',
    ...hookLines({ on: 'test', policy }).map((line) => `  ${line}`),
    'spec:',
    '  restartPolicy: Never',
    '  containers: [{name: main, image: example.com/test:1}]',
    '',
  ].join('\n');
}

const TEMPLATES: ChartFiles = {
  // Weights beat names; equal weights go by kind, then by name.
  'templates/1-pre-late.yaml': hookMap('pre-late', { on: 'pre-install,pre-upgrade', weight: 10 }),
  'templates/2-pre-early.yaml': hookMap('pre-early', { on: 'pre-install', weight: -5 }),
  'templates/3-pre-job.yaml': hookJob('pre-job', {
    on: 'pre-install, pre-upgrade',
    weight: 3,
    policy: 'before-hook-creation,hook-succeeded',
  }),
  'templates/4-same-b.yaml': hookMap('same-b', { on: 'pre-install' }),
  'templates/5-same-a.yaml': hookMap('same-a', { on: 'pre-install' }),
  'templates/6-same-account.yaml': [
    'apiVersion: v1',
    'kind: ServiceAccount',
    'metadata:',
    '  name: same-account',
    ...hookLines({ on: 'pre-install' }).map((line) => `  ${line}`),
    '',
  ].join('\n'),
  'templates/post-install.yaml': hookJob('post-install', { on: 'post-install', policy: 'before-hook-creation' }),
  'templates/post-both.yaml': hookMap('post-both', { on: 'post-install,post-upgrade', policy: 'hook-succeeded' }),
  'templates/pre-upgrade.yaml': hookJob('pre-upgrade', { on: 'pre-upgrade', weight: -1, policy: 'hook-succeeded' }),
  'templates/post-upgrade.yaml': hookJob('post-upgrade', { on: 'post-upgrade' }),
  'templates/pre-rollback.yaml': hookMap('pre-rollback', { on: 'pre-rollback' }),
  'templates/post-rollback.yaml': hookMap('post-rollback', { on: 'post-rollback' }),
  'templates/pre-delete.yaml': hookMap('pre-delete', { on: 'pre-delete' }),
  'templates/post-delete.yaml': hookJob('post-delete', { on: 'post-delete', policy: 'hook-succeeded' }),
  'templates/all-policies.yaml': hookJob('all-policies', {
    on: 'post-install,post-upgrade',
    weight: 7,
    policy: 'hook-succeeded,hook-failed,before-hook-creation',
  }),
  'templates/tests/test.yaml': testPod('works'),
  'templates/body.yaml': configMap('body', ['text: {{ .Values.text | quote }}']),
};

const OTHERS: ChartFiles = { 'values.yaml': 'text: one\n' };

const { 'templates/pre-upgrade.yaml': _, ...WITHOUT_ONE } = TEMPLATES;

/** Hooks of every kind; in the upgrade one leaves the chart and another comes, and the rest run with a new value. */
export const HOOKS: Fixture = {
  name: 'hooks',
  source: 'oci',
  steps: () => [
    { chart: chart('hooks', { ...TEMPLATES, ...OTHERS }) },
    {
      chart: chart(
        'hooks',
        {
          ...WITHOUT_ONE,
          ...OTHERS,
          'templates/1-pre-late.yaml': hookMap('pre-late', { on: 'pre-upgrade', weight: -10, policy: 'hook-failed' }),
        },
        { version: '2.0.0' },
      ),
      values: { text: 'two' },
    },
  ],
};
