import { chart } from '../../support/charts.ts';
import type { Fixture } from './fixture.ts';

/** What most charts are made of, in the order in which Helm installs kinds; the upgrade removes and adds some. */
export const WORKLOADS: Fixture = {
  name: 'workloads',
  source: 'oci',
  steps: () => [
    { chart: chart('workloads', FILES, { appVersion: '1.0' }) },
    {
      chart: chart('workloads', FILES, { appVersion: '1.1', version: '1.1.0' }),
      values: { replicas: 2, image: 'example.com/web:2', ingress: false, budget: true, port: 8080 },
    },
  ],
};

const FILES: Record<string, string> = {
  'values.yaml': 'replicas: 1\nimage: example.com/web:1\ningress: true\nbudget: false\nport: 80\n',
  'values.schema.json': JSON.stringify({
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { replicas: { type: 'integer', minimum: 0 }, image: { type: 'string' } },
  }),
  'templates/ingress.yaml': `{{- if .Values.ingress }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules:
  - host: web.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}}]}
{{- end }}
`,
  'templates/budget.yaml': `{{- if .Values.budget }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
{{- end }}
`,
  'templates/deployment.yaml': `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web, app.kubernetes.io/managed-by: {{ .Release.Service }}, helm.sh/chart: "{{ .Chart.Name }}-{{ .Chart.Version }}"}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {checksum/config: {{ include (print $.Template.BasePath "/config.yaml") . | sha256sum }}}
    spec:
      serviceAccountName: web
      containers:
      - name: web
        image: {{ .Values.image }}
        ports: [{name: http, containerPort: {{ .Values.port }}}]
        envFrom: [{configMapRef: {name: web}}]
        resources: {requests: {cpu: 10m, memory: 16Mi}}
`,
  'templates/stateful.yaml': `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: store}
spec:
  replicas: 1
  serviceName: store
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec: {containers: [{name: store, image: example.com/store:1}]}
---
apiVersion: v1
kind: Service
metadata: {name: store}
spec: {clusterIP: None, selector: {app: store}, ports: [{name: store, port: 6379}]}
`,
  'templates/config.yaml': `apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {PORT: {{ .Values.port | quote }}}
---
apiVersion: v1
kind: Secret
metadata: {name: web}
stringData: {token: {{ .Values.image | quote }}}
`,
  'templates/service.yaml': `apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{name: http, port: {{ .Values.port }}, targetPort: http}]}
`,
  'templates/access.yaml': `apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: [{kind: ServiceAccount, name: web, namespace: {{ .Release.Namespace }}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "{{ .Release.Namespace }}-web"}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "{{ .Release.Namespace }}-web"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "{{ .Release.Namespace }}-web"}
subjects: [{kind: ServiceAccount, name: web, namespace: {{ .Release.Namespace }}}]
`,
  'templates/quota.yaml': `apiVersion: v1
kind: ResourceQuota
metadata: {name: web}
spec: {hard: {pods: "20"}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: web}
spec: {limits: [{type: Container, default: {cpu: 100m}}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec: {podSelector: {matchLabels: {app: web}}, ingress: [{from: [{podSelector: {}}]}]}
`,
  'templates/cron.yaml': `apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 2 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: {{ .Values.image }}}]}}}}
`,
  'templates/scaler.yaml': `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  maxReplicas: 5
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`,
};
