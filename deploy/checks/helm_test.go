package checks

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"
)

const chartDir = "../helm/tallyhouse"

// minimal is what a user must say; all switches everything on.
const (
	minimal = `
kafka: {addr: "kafka-1:9093,kafka-2:9093"}
clickhouse: {addr: "shard-1:9000,shard-2:9000"}
`
	onDisk = minimal + `
ingest: {imapSecret: {name: mail}, originals: {claim: originals}}
desk: {enabled: true, url: "https://desk.example.com", keySecret: {name: desk}, oidc: {issuer: "https://id.example.com/", clientId: desk}}
`
	all = `
kafka: {addr: "kafka:9093", tls: true, sasl: SCRAM-SHA-512, user: tallyhouse, passwordSecret: {name: kafka}, caSecret: {name: kafka-ca}}
clickhouse:
  addr: "shard-1:9440"
  tls: true
  cluster: main
  replicas: false
  passwordSecret: {name: clickhouse}
  caSecret: {name: clickhouse-ca}
authoritiesSecret: {name: authorities}
config: {TALLYHOUSE_LOG_LEVEL: WARN}
ingest:
  imapSecret: {name: mail}
  answersSecret: {name: answers}
  originals: {s3Secret: {name: originals}}
  ocr: true
  config: {TALLYHOUSE_FRESHNESS: 200ms}
  autoscaling: {enabled: true}
api:
  cursorKeysSecret: {name: cursors}
  redisUrlSecret: {name: redis}
  config: {TALLYHOUSE_OIDC_ISSUER: "https://id.example.com/", TALLYHOUSE_OIDC_AUDIENCE: ledger}
  autoscaling: {enabled: true}
  ingress: {enabled: true, host: ledger.example.com, className: nginx, tlsSecret: ledger-tls}
desk:
  enabled: true
  url: https://desk.example.com
  keySecret: {name: desk}
  oidc: {issuer: "https://id.example.com/", clientId: tallyhouse-desk, clientSecret: {name: desk-client}}
  ingress: {enabled: true, className: nginx, tlsSecret: desk-tls}
networkPolicy: {deskFrom: [{namespaceSelector: {matchLabels: {name: ingress}}}], egressTo: [{ipBlock: {cidr: 10.0.0.0/8}}]}
prometheusRule: {enabled: true, labels: {release: prometheus}}
podMonitor: {enabled: true, labels: {release: prometheus}}
`
)

func loaded(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rendered are the documents of the chart, by kind and name.
func rendered(t *testing.T, given string) map[string][]byte {
	t.Helper()
	c := loaded(t)
	var values map[string]any
	if err := yaml.Unmarshal([]byte(given), &values); err != nil {
		t.Fatal(err)
	}
	release := chartutil.ReleaseOptions{Name: "books", Namespace: "finance", IsInstall: true}
	combined, err := chartutil.ToRenderValues(c, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Engine{Strict: true}.Render(c, combined)
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string][]byte{}
	for name, text := range files {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		for _, document := range regexp.MustCompile(`(?m)^---\n`).Split(text, -1) {
			if strings.TrimSpace(document) == "" {
				continue
			}
			var head struct {
				Kind     string
				Metadata struct{ Name, Namespace string }
			}
			if err := yaml.Unmarshal([]byte(document), &head); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
			if head.Metadata.Namespace != "finance" {
				t.Errorf("%s %s is in namespace %q", head.Kind, head.Metadata.Name, head.Metadata.Namespace)
			}
			documents[head.Kind+" "+head.Metadata.Name] = []byte(document)
		}
	}
	return documents
}

// decoder reads documents as Kubernetes' own server does that is told to be strict: their version and kind must be ones of those groups,
// and each member one of the type, once.
func decoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	groups := runtime.NewSchemeBuilder(apps.AddToScheme, autoscaling.AddToScheme, batch.AddToScheme, core.AddToScheme,
		networking.AddToScheme, policy.AddToScheme)
	if err := groups.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}

// typed are documents as Kubernetes reads them, by kind and name. Those of the Prometheus operator are no types of Kubernetes.
func typed(t *testing.T, documents map[string][]byte) map[string]runtime.Object {
	t.Helper()
	decode, all := decoder(t), map[string]runtime.Object{}
	for name, document := range documents {
		if strings.HasPrefix(name, "PodMonitor ") || strings.HasPrefix(name, "PrometheusRule ") {
			continue
		}
		object, _, err := decode.Decode(document, nil, nil)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, document)
			continue
		}
		all[name] = object
	}
	return all
}

// The chart renders to documents that Kubernetes knows member by member; every process is restricted, probed where it
// serves, and runs what the program accepts.
func TestTheChartRunsWhatTheProgramAccepts(t *testing.T) {
	for name, given := range map[string]string{"minimal": minimal, "on disk": onDisk, "all": all} {
		t.Run(name, func(t *testing.T) {
			documents := rendered(t, given)
			objects := typed(t, documents)
			for of, object := range objects {
				checkReferences(t, of, object, objects)
				switch d := object.(type) {
				case *apps.Deployment:
					checkPod(t, of, d.Spec.Template.Spec)
					if !matches(d.Spec.Selector.MatchLabels, d.Spec.Template.Labels) {
						t.Errorf("%s doesn't select its own pods", of)
					}
				case *batch.Job:
					checkPod(t, of, d.Spec.Template.Spec)
				}
			}
			want := []string{
				"Deployment books-ingest", "Deployment books-api", "Deployment books-verify", "Job books-prepare", "Service books-api",
				"PodDisruptionBudget books-ingest", "PodDisruptionBudget books-api", "NetworkPolicy books-ingest", "NetworkPolicy books-api",
				"NetworkPolicy books-verify", "NetworkPolicy books-prepare",
			}
			if name != "minimal" {
				want = append(want, "Deployment books-desk", "Service books-desk", "PodDisruptionBudget books-desk", "NetworkPolicy books-desk")
			}
			if name == "all" {
				want = append(want, "Ingress books-desk", "PodMonitor books-desk", "HorizontalPodAutoscaler books-ingest", "HorizontalPodAutoscaler books-api", "Ingress books-api",
					"PrometheusRule books-rules", "PodMonitor books-ingest", "PodMonitor books-api", "PodMonitor books-verify")
			}
			for _, one := range want {
				if documents[one] == nil {
					t.Errorf("there is no %s", one)
				}
			}
			if len(documents) != len(want) {
				t.Errorf("%d documents, want %d", len(documents), len(want))
			}
		})
	}
}

func matches(selector, labels map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

// checkReferences checks that what an object names is there: pods, their ports, services.
func checkReferences(t *testing.T, of string, object runtime.Object, all map[string]runtime.Object) {
	t.Helper()
	pods := func(selector map[string]string) (ports []string, found bool) {
		for _, other := range all {
			var template core.PodTemplateSpec
			switch d := other.(type) {
			case *apps.Deployment:
				template = d.Spec.Template
			case *batch.Job:
				template = d.Spec.Template
			}
			if !matches(selector, template.Labels) {
				continue
			}
			found = true
			for _, c := range template.Spec.Containers {
				for _, port := range c.Ports {
					ports = append(ports, port.Name, strconv.Itoa(int(port.ContainerPort)))
				}
			}
		}
		return ports, found
	}
	named := func(kind, name string) {
		if all[kind+" "+name] == nil {
			t.Errorf("%s names %s %s, which is not there", of, kind, name)
		}
	}
	selected := func(selector map[string]string, ports ...string) {
		has, found := pods(selector)
		if !found {
			t.Errorf("%s selects no pods: %v", of, selector)
		}
		for _, port := range ports {
			if !slices.Contains(has, port) {
				t.Errorf("%s names the port %s; its pods have %v", of, port, has)
			}
		}
	}
	switch o := object.(type) {
	case *apps.Deployment:
		for _, c := range o.Spec.Template.Spec.Containers {
			for _, probe := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
				if probe != nil {
					selected(o.Spec.Selector.MatchLabels, probe.HTTPGet.Port.String())
				}
			}
		}
	case *core.Service:
		for _, port := range o.Spec.Ports {
			selected(o.Spec.Selector, port.TargetPort.String())
		}
	case *policy.PodDisruptionBudget:
		selected(o.Spec.Selector.MatchLabels)
	case *autoscaling.HorizontalPodAutoscaler:
		named(o.Spec.ScaleTargetRef.Kind, o.Spec.ScaleTargetRef.Name)
	case *networking.NetworkPolicy:
		for _, rule := range o.Spec.Ingress {
			for _, port := range rule.Ports {
				selected(o.Spec.PodSelector.MatchLabels, port.Port.String())
			}
		}
	case *networking.Ingress:
		for _, rule := range o.Spec.Rules {
			for _, path := range rule.HTTP.Paths {
				named("Service", path.Backend.Service.Name)
			}
		}
	}
}

func checkPod(t *testing.T, of string, pod core.PodSpec) {
	t.Helper()
	if s := pod.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil {
		t.Errorf("%s may run as root", of)
	}
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		s := c.SecurityContext
		if s == nil || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
			t.Errorf("%s, %s is not restricted: %+v", of, c.Name, s)
		}
		if serves := slices.Contains([]string{"ingest", "api", "desk"}, c.Name); serves && (c.LivenessProbe == nil || c.ReadinessProbe == nil || c.StartupProbe == nil) {
			t.Errorf("%s, %s lacks a probe", of, c.Name)
		}
		for _, mount := range c.VolumeMounts {
			if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == mount.Name }) {
				t.Errorf("%s, %s mounts %s, which is no volume", of, c.Name, mount.Name)
			}
		}
		env := map[string]string{}
		for _, e := range c.Env {
			if _, twice := env[e.Name]; twice {
				t.Errorf("%s, %s has %s twice", of, c.Name, e.Name)
			}
			env[e.Name] = e.Value
			isFile := strings.HasSuffix(e.Name, "_FILE") || strings.HasPrefix(e.Value, "/secrets/")
			if isFile && !slices.ContainsFunc(c.VolumeMounts, func(m core.VolumeMount) bool {
				return strings.HasPrefix(e.Value, m.MountPath+"/")
			}) {
				t.Errorf("%s, %s has no file %s", of, c.Name, e.Value)
			}
		}
		accepts(t, of, c.Args, env)
	}
}

// The chart asks for a version of Kubernetes that knows what it uses: before 1.30 a pod that sleeps before it stops is refused.
func TestTheChartAsksForTheKubernetesThatItNeeds(t *testing.T) {
	sleeps := false
	for _, object := range typed(t, rendered(t, all)) {
		d, ok := object.(*apps.Deployment)
		if !ok {
			continue
		}
		for _, c := range d.Spec.Template.Spec.Containers {
			sleeps = sleeps || c.Lifecycle != nil && c.Lifecycle.PreStop != nil && c.Lifecycle.PreStop.Sleep != nil
		}
	}
	asked := loaded(t).Metadata.KubeVersion
	if !sleeps || chartutil.IsCompatibleRange(asked, "v1.29.9") || !chartutil.IsCompatibleRange(asked, "v1.30.0-gke.1") {
		t.Errorf("the chart asks for Kubernetes %s; sleeps: %t", asked, sleeps)
	}
}

// Helm's own linter finds nothing.
func TestTheChartIsLinted(t *testing.T) {
	var values map[string]any
	if err := yaml.Unmarshal([]byte(all), &values); err != nil {
		t.Fatal(err)
	}
	for _, m := range lint.All(chartDir, values, "finance", true).Messages {
		if m.Severity > support.InfoSev {
			t.Error(m.Error())
		}
	}
}

// What has no default must be said, and what can't be is refused.
func TestTheChartRefusesValues(t *testing.T) {
	for name, given := range map[string]string{
		"no servers":       "{}",
		"no ClickHouse":    `kafka: {addr: "kafka:9092"}`,
		"no port":          `{kafka: {addr: kafka}, clickhouse: {addr: "c:9000"}}`,
		"an unknown login": `{kafka: {addr: "k:9092", sasl: MD5}, clickhouse: {addr: "c:9000"}}`,
		"an environment":   `{kafka: {addr: "k:9092"}, clickhouse: {addr: "c:9000"}, api: {environment: prod}}`,
		"a bare desk":      minimal + `desk: {enabled: true}`,
		"a desk by HTTP": minimal + `desk: {enabled: true, url: "http://desk.example.com", keySecret: {name: desk},` +
			` oidc: {issuer: "https://id.example.com/", clientId: desk}}`,
		"a desk without keys": minimal + `desk: {enabled: true, url: "https://desk.example.com",` +
			` oidc: {issuer: "https://id.example.com/", clientId: desk}}`,
		"a desk without a provider": minimal + `desk: {enabled: true, url: "https://desk.example.com", keySecret: {name: desk}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var values map[string]any
			if err := yaml.Unmarshal([]byte(given), &values); err != nil {
				t.Fatal(err)
			}
			_, err := chartutil.ToRenderValues(loaded(t), values, chartutil.ReleaseOptions{Name: "books"}, chartutil.DefaultCapabilities)
			if err == nil {
				t.Error("it is taken")
			}
		})
	}
}

// The chart carries the alerts as they are.
func TestTheChartHasTheAlerts(t *testing.T) {
	here, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	there, err := os.ReadFile(chartDir + "/rules.yml")
	if err != nil || string(here) != string(there) {
		t.Errorf("copy deploy/prometheus/rules.yml to deploy/helm/tallyhouse (%v)", err)
	}
}
