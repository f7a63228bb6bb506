{{- define "labels" -}}
app: app-operator
{{- end -}}
