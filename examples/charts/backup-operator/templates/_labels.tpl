{{- define "backup-operator.labels" -}}
app: {{ .Release.Name }}
{{- end -}}
