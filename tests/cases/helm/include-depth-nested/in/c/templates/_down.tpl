{{- define "down" -}}
{{- if . }}{{ with $ }}{{ range list 1 }}{{ if true }}{{ with 1 }}{{ if not false }}{{ range 1 }}{{ if lt (int $) 1001 -}}
{{- include "down" (add1 $) | trim -}}
{{- else }}{{ $ }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end -}}
{{- end -}}
