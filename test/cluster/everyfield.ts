import type { KubeObject } from '../../src/api/index.ts';

/** Objects with as many fields as their kinds have, in the forms that typed clients are known to lose. */

export function networkPolicy(namespace: string): KubeObject {
  const selector = {
    matchLabels: { app: 'web', 'example.com/tier': 'front' },
    matchExpressions: [
      { key: 'env', operator: 'In', values: ['prod', 'stage'] },
      { key: 'legacy', operator: 'DoesNotExist' },
    ],
  };
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: 'every-field',
      namespace,
      labels: { a: 'b' },
      annotations: { note: 'ünïcode, "quotes" & <tags>' },
    },
    spec: {
      podSelector: selector,
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { from: [{ podSelector: {} }, { namespaceSelector: selector, podSelector: selector }] },
        {
          from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.2.0.0/16'] } }],
          ports: [
            { protocol: 'TCP', port: 8080 },
            { protocol: 'UDP', port: 'dns' },
            { protocol: 'SCTP', port: 30000, endPort: 30100 },
          ],
        },
      ],
      egress: [{ to: [{ namespaceSelector: {} }], ports: [{ protocol: 'TCP', port: 443 }] }],
    },
  };
}

export function deployment(namespace: string): KubeObject {
  const probe = {
    initialDelaySeconds: 3,
    periodSeconds: 7,
    timeoutSeconds: 2,
    successThreshold: 1,
    failureThreshold: 4,
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'every-field', namespace, labels: { app: 'web' }, annotations: { 'example.com/note': 'yes' } },
    spec: {
      replicas: 0,
      paused: true,
      minReadySeconds: 5,
      revisionHistoryLimit: 3,
      progressDeadlineSeconds: 120,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '30%', maxUnavailable: 0 } },
      selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      template: {
        metadata: { labels: { app: 'web', tier: 'front' }, annotations: { 'prometheus.io/scrape': 'true' } },
        spec: {
          automountServiceAccountToken: false,
          dnsPolicy: 'None',
          dnsConfig: { nameservers: ['1.1.1.1'], searches: ['example.com'], options: [{ name: 'ndots', value: '2' }] },
          enableServiceLinks: false,
          hostAliases: [{ ip: '10.0.0.1', hostnames: ['a.example.com', 'b.example.com'] }],
          imagePullSecrets: [{ name: 'registry' }],
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          preemptionPolicy: 'PreemptLowerPriority',
          priority: 0,
          restartPolicy: 'Always',
          schedulerName: 'default-scheduler',
          shareProcessNamespace: true,
          terminationGracePeriodSeconds: 10,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 1000,
            fsGroup: 2000,
            fsGroupChangePolicy: 'OnRootMismatch',
            supplementalGroups: [3000, 4000],
            seccompProfile: { type: 'RuntimeDefault' },
            sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
          },
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: {
                nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['z'] }] }],
              },
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 7, preference: { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] } },
              ],
            },
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                {
                  weight: 100,
                  podAffinityTerm: {
                    topologyKey: 'kubernetes.io/hostname',
                    labelSelector: { matchLabels: { app: 'web' } },
                    matchLabelKeys: ['tier'],
                    namespaceSelector: {},
                  },
                },
              ],
            },
          },
          tolerations: [
            { key: 'spot', operator: 'Equal', value: 'true', effect: 'NoExecute', tolerationSeconds: 60 },
            { operator: 'Exists' },
          ],
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              minDomains: 2,
              topologyKey: 'zone',
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: { app: 'web' } },
              nodeAffinityPolicy: 'Ignore',
              nodeTaintsPolicy: 'Honor',
            },
          ],
          initContainers: [
            {
              name: 'sidecar',
              image: 'example.com/sidecar:1',
              restartPolicy: 'Always',
              imagePullPolicy: 'IfNotPresent',
            },
          ],
          containers: [
            {
              name: 'web',
              image: 'example.com/web@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
              imagePullPolicy: 'Never',
              command: ['/bin/web'],
              args: ['--flag=$(NAME)', ''],
              workingDir: '/srv',
              env: [
                { name: 'NAME', value: 'n' },
                { name: 'POD', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
                {
                  name: 'CPU',
                  valueFrom: { resourceFieldRef: { containerName: 'web', resource: 'limits.cpu', divisor: '1m' } },
                },
                { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
              ],
              envFrom: [{ prefix: 'P_', configMapRef: { name: 'c', optional: false } }],
              ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP', hostPort: 18080 }],
              resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '1Gi' } },
              livenessProbe: {
                ...probe,
                httpGet: { path: '/live', port: 'http', scheme: 'HTTPS', httpHeaders: [{ name: 'X-A', value: 'b' }] },
              },
              readinessProbe: { ...probe, grpc: { port: 9090, service: 'ready' } },
              startupProbe: { ...probe, exec: { command: ['true'] }, terminationGracePeriodSeconds: 3 },
              lifecycle: { preStop: { sleep: { seconds: 2 } }, postStart: { exec: { command: ['true'] } } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
              },
              terminationMessagePath: '/dev/stop',
              terminationMessagePolicy: 'FallbackToLogsOnError',
              volumeMounts: [
                { name: 'all', mountPath: '/all', readOnly: true, mountPropagation: 'HostToContainer' },
                { name: 'scratch', mountPath: '/scratch', subPathExpr: '$(NAME)' },
              ],
              stdin: true,
              tty: true,
            },
          ],
          volumes: [
            {
              name: 'all',
              projected: {
                defaultMode: 256,
                sources: [
                  { serviceAccountToken: { path: 'token', expirationSeconds: 3607, audience: 'vault' } },
                  { configMap: { name: 'c', items: [{ key: 'a', path: 'b', mode: 420 }], optional: true } },
                  {
                    downwardAPI: {
                      items: [{ path: 'labels', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } }],
                    },
                  },
                ],
              },
            },
            { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
            {
              name: 'claim',
              ephemeral: {
                volumeClaimTemplate: {
                  metadata: { labels: { a: 'b' } },
                  spec: {
                    accessModes: ['ReadWriteOnce'],
                    resources: { requests: { storage: '1Gi' } },
                    volumeMode: 'Filesystem',
                  },
                },
              },
            },
          ],
        },
      },
    },
  };
}

export function definition(group: string): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        plural: 'things',
        singular: 'thing',
        kind: 'Thing',
        listKind: 'ThingList',
        shortNames: ['tg'],
        categories: ['all'],
      },
      conversion: { strategy: 'None' },
      versions: [
        {
          name: 'v1alpha1',
          served: false,
          storage: false,
          deprecated: true,
          deprecationWarning: 'gone soon',
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.size',
              statusReplicasPath: '.status.size',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: [
            {
              name: 'Size',
              type: 'integer',
              jsonPath: '.spec.size',
              priority: 1,
              description: 'How many',
              format: 'int32',
            },
          ],
          selectableFields: [{ jsonPath: '.spec.color' }],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: 'A thing.',
              required: ['spec'],
              properties: {
                spec: {
                  type: 'object',
                  'x-kubernetes-validations': [
                    {
                      rule: 'self.size <= 10 || has(self.big)',
                      message: 'too big',
                      reason: 'FieldValueForbidden',
                      fieldPath: '.size',
                    },
                  ],
                  properties: {
                    size: {
                      type: 'integer',
                      format: 'int32',
                      minimum: 0,
                      maximum: 100,
                      default: 1,
                      exclusiveMaximum: true,
                      multipleOf: 1,
                    },
                    color: { type: 'string', enum: ['red', 'green', ''], default: 'red', maxLength: 10 },
                    pattern: { type: 'string', pattern: '^[a-z<>&]+$', nullable: true },
                    big: { type: 'boolean' },
                    ratio: { type: 'number' },
                    either: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
                    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                    embedded: {
                      type: 'object',
                      'x-kubernetes-embedded-resource': true,
                      'x-kubernetes-preserve-unknown-fields': true,
                    },
                    map: {
                      type: 'object',
                      additionalProperties: { type: 'string' },
                      'x-kubernetes-map-type': 'atomic',
                      maxProperties: 5,
                    },
                    list: {
                      type: 'array',
                      minItems: 0,
                      maxItems: 9,
                      'x-kubernetes-list-type': 'map',
                      'x-kubernetes-list-map-keys': ['name'],
                      items: {
                        type: 'object',
                        required: ['name'],
                        properties: { name: { type: 'string' }, value: { type: 'string', default: 'none' } },
                      },
                    },
                  },
                },
                status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
          },
        },
      ],
    },
  };
}

export function thing(definition: KubeObject, namespace: string): KubeObject {
  const group = definition.metadata.name.replace(/^things\./, '');
  return {
    apiVersion: `${group}/v1`,
    kind: 'Thing',
    metadata: { name: 'every-field', namespace, labels: { 'app.kubernetes.io/name': 'thing' } },
    spec: {
      size: 3,
      color: '',
      pattern: null,
      big: false,
      ratio: 0.1,
      either: '50%',
      free: {
        a: [{ b: [] }, {}, null, 'text', 1.5, -7, true],
        ключ: '値 🙂',
        'with/slash': { '': 'empty key' },
        constructor: 'x',
      },
      embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'inner' }, spec: { anything: 'goes' } },
      map: { one: '1', two: '' },
      list: [
        { name: 'a', value: 'b' },
        { name: 'c', value: '' },
      ],
    },
  };
}
