{{- define "tallyhouse.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "tallyhouse.labels" -}}
app.kubernetes.io/name: tallyhouse
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "tallyhouse.meta" -}}
name: {{ include "tallyhouse.name" .root }}-{{ .component }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "tallyhouse.labels" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* Where a process finds its servers. Secrets are files. */}}
{{- define "tallyhouse.env" -}}
{{- $v := .root.Values -}}
- {name: TALLYHOUSE_KAFKA_ADDR, value: {{ $v.kafka.addr | quote }}}
- {name: TALLYHOUSE_KAFKA_TLS, value: {{ $v.kafka.tls | quote }}}
{{- if $v.kafka.user }}
- {name: TALLYHOUSE_KAFKA_USER, value: {{ $v.kafka.user | quote }}}
{{- end }}
{{- if $v.kafka.sasl }}
- {name: TALLYHOUSE_KAFKA_SASL, value: {{ $v.kafka.sasl | quote }}}
{{- end }}
{{- if $v.kafka.passwordSecret.name }}
- {name: TALLYHOUSE_KAFKA_PASSWORD_FILE, value: /secrets/kafka/{{ $v.kafka.passwordSecret.key }}}
{{- end }}
{{- if $v.kafka.caSecret.name }}
- {name: TALLYHOUSE_KAFKA_TLS_CA, value: /secrets/kafka-ca/{{ $v.kafka.caSecret.key }}}
{{- end }}
- {name: TALLYHOUSE_CLICKHOUSE_ADDR, value: {{ $v.clickhouse.addr | quote }}}
- {name: TALLYHOUSE_CLICKHOUSE_TLS, value: {{ $v.clickhouse.tls | quote }}}
- {name: TALLYHOUSE_CLICKHOUSE_USER, value: {{ $v.clickhouse.user | quote }}}
- {name: TALLYHOUSE_CLICKHOUSE_DATABASE, value: {{ $v.clickhouse.database | quote }}}
{{- if $v.clickhouse.passwordSecret.name }}
- {name: TALLYHOUSE_CLICKHOUSE_PASSWORD_FILE, value: /secrets/clickhouse/{{ $v.clickhouse.passwordSecret.key }}}
{{- end }}
{{- if $v.clickhouse.caSecret.name }}
- {name: TALLYHOUSE_CLICKHOUSE_TLS_CA, value: /secrets/clickhouse-ca/{{ $v.clickhouse.caSecret.key }}}
{{- end }}
{{- if $v.authoritiesSecret.name }}
- {name: SSL_CERT_FILE, value: /secrets/authorities/{{ $v.authoritiesSecret.key }}}
{{- end }}
{{- range $name, $value := merge (dict) (get . "config" | default dict) $v.config }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- end }}
{{- end }}

{{/* The secrets that every process may need, by the folder below /secrets in which they are mounted, as JSON. */}}
{{- define "tallyhouse.secrets" -}}
{{- $v := .root.Values -}}
{{- dict "kafka" $v.kafka.passwordSecret "kafka-ca" $v.kafka.caSecret "clickhouse" $v.clickhouse.passwordSecret
  "clickhouse-ca" $v.clickhouse.caSecret "authorities" $v.authoritiesSecret | toJson -}}
{{- end }}

{{- define "tallyhouse.mounts" -}}
- {name: tmp, mountPath: /tmp}
{{- range $folder, $secret := include "tallyhouse.secrets" . | fromJson }}
{{- if $secret.name }}
- {name: {{ $folder }}, mountPath: /secrets/{{ $folder }}, readOnly: true}
{{- end }}
{{- end }}
{{- end }}

{{- define "tallyhouse.volumes" -}}
- name: tmp
  emptyDir: {sizeLimit: {{ get . "scratch" | default "256Mi" }}}
{{- range $folder, $secret := include "tallyhouse.secrets" . | fromJson }}
{{- if $secret.name }}
- name: {{ $folder }}
  secret: {secretName: {{ $secret.name }}, defaultMode: 0440}
{{- end }}
{{- end }}
{{- end }}

{{- define "tallyhouse.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "tallyhouse.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "tallyhouse.labels" . | nindent 8 }}
{{- end }}

{{- define "tallyhouse.image" -}}
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}{{ if get . "ocr" }}-ocr{{ end }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}
