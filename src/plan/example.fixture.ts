import { countActions, type ObjectPlan, type Outcome, type PluginPlan } from './object-plan.ts';
import type { Plan } from './whole.ts';

function object(apiVersion: string, kind: string, name: string, outcome: Outcome): ObjectPlan {
  return { key: `${kind}/${name}`, ref: { apiVersion, kind, namespace: 'shop', name }, ...outcome };
}

function plugin(name: string, objects: ObjectPlan[], warnings: string[] = []): PluginPlan {
  return { plugin: { namespace: 'platform', name }, objects, gone: [], counts: countActions(objects), warnings };
}

/** The plan that docs/plan.md shows in its forms; a test holds the page to it. */
export const EXAMPLE: Plan = {
  cluster: 'prod-eu',
  commit: { base: '4f1c2aa', head: '9b7e013' },
  plugins: [
    plugin('shop', [
      object('apps/v1', 'Deployment', 'web', {
        action: 'change',
        fields: [
          {
            path: 'spec.template.spec.containers[name=web].image',
            op: 'replace',
            old: 'harbor.local/shop/web:1.4.0',
            new: 'harbor.local/shop/web:1.5.0',
          },
        ],
      }),
      object('v1', 'ConfigMap', 'web', {
        action: 'change',
        fields: [
          {
            path: 'data["nginx.conf"]',
            op: 'replace',
            old: 'server {\n  listen 80;\n}\n',
            new: 'server {\n  listen 8080;\n}\n',
          },
        ],
      }),
      object('v1', 'Secret', 'db', {
        action: 'change',
        fields: [{ path: 'data.password', op: 'replace', old: '••• (1)', new: '••• (2)' }],
      }),
      object('v1', 'Service', 'web', { action: 'unchanged', isOurs: true }),
      object('v1', 'Service', 'legacy', { action: 'delete', uid: '0c9d6f3e-8a41-4b0e-9a52-3d1f0a6c7b21' }),
      object('v1', 'PersistentVolumeClaim', 'cache', {
        action: 'keep',
        reason: 'volume',
        why: 'deletion.volumes is keep',
        forget: false,
      }),
    ]),
    plugin('mail', [
      object('v1', 'ConfigMap', 'relay', {
        action: 'create',
        object: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'relay', namespace: 'shop' },
          data: { mode: 'tls' },
        },
      }),
      object('v1', 'Service', 'smtp', {
        action: 'conflict',
        with: 'Helm release shop/smtp',
        why: 'it exists and no plugin declares it; to take it over, set spec.apply.adopt or annotate it with espalier.dev/adopt=true',
      }),
    ]),
  ],
  held: [
    {
      reason: '6 of 10 plugins would be removed: more than 50 %',
      howToApprove: 'espalier approve platform -n platform --commit 9b7e013c55d1f4e2a8f6b0d3c7e9a1b2c4d5e6f7',
    },
  ],
  faults: [
    {
      file: 'plugins/dns.yaml',
      line: 12,
      column: 12,
      message: '/spec/timeout must be a duration such as 30s, 5m or 1h30m',
    },
  ],
  waits: [{ plugin: 'platform/mail', for: 'platform/cert-manager' }],
  drift: [{ plugin: 'platform/shop', object: 'Deployment shop/web', fields: ['spec.replicas'], by: 'kubectl' }],
};
