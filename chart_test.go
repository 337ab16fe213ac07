package kingshard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"gopkg.in/yaml.v3"
)

const chart = "etc/helm/kingshard"

// chartFunctions are Helm's functions that our templates use: the engine is text/template, these come from Helm and Sprig.
func chartFunctions(all func() *template.Template) template.FuncMap {
	nindent := func(n int, text string) string {
		pad := "\n" + strings.Repeat(" ", n)
		return pad + strings.ReplaceAll(text, "\n", pad)
	}
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var b strings.Builder
			err := all().ExecuteTemplate(&b, name, data)
			return b.String(), err
		},
		"toYaml": func(v any) (string, error) {
			data, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(data), "\n"), err
		},
		"nindent": nindent,
		"quote":   func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) },
		"default": func(other, v string) string {
			if v == "" {
				return other
			}
			return v
		},
		"required": func(text, v string) (string, error) {
			if v == "" {
				return "", errors.New(text)
			}
			return v, nil
		},
		"contains":  func(part, v string) bool { return strings.Contains(v, part) },
		"sha256sum": func(v string) string { sum := sha256.Sum256([]byte(v)); return hex.EncodeToString(sum[:]) },
	}
}

// values reads the chart's with others over them, mappings merged as Helm does.
func values(t *testing.T, over string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(chart + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all, more map[string]any
	if err := errors.Join(yaml.Unmarshal(data, &all), yaml.Unmarshal([]byte(over), &more)); err != nil {
		t.Fatal(err)
	}
	merge(all, more)
	return all
}

func merge(into, from map[string]any) {
	for key, v := range from {
		if x, ok := into[key].(map[string]any); ok {
			if y, ok := v.(map[string]any); ok {
				merge(x, y)
				continue
			}
		}
		into[key] = v
	}
}

// renderTexts gives what each template makes of the values.
func renderTexts(t *testing.T, over string) (map[string]string, error) {
	t.Helper()
	var about struct {
		Name, Version string
		AppVersion    string `yaml:"appVersion"`
	}
	data, err := os.ReadFile(chart + "/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &about); err != nil || about.Name != filepath.Base(chart) || about.Version == "" || about.AppVersion == "" {
		t.Fatalf("Chart.yaml: %+v, %v", about, err)
	}
	var all *template.Template
	all = template.New("").Funcs(chartFunctions(func() *template.Template { return all })).Option("missingkey=error")
	if _, err := all.ParseGlob(chart + "/templates/*"); err != nil {
		t.Fatal(err)
	}
	input := map[string]any{
		"Chart": about, "Values": values(t, over),
		"Release": map[string]any{"Name": "kingshard", "Namespace": "here", "Service": "Helm"},
	}
	texts := make(map[string]string)
	for _, one := range all.Templates() {
		if !strings.Contains(one.Name(), ".") || strings.HasPrefix(one.Name(), "_") || strings.HasPrefix(one.Name(), "kingshard.") {
			continue
		}
		var b bytes.Buffer
		if err := one.Execute(&b, input); err != nil {
			return nil, err
		}
		texts[one.Name()] = b.String()
	}
	return texts, nil
}

// render gives the chart's objects.
func render(t *testing.T, over string) *cluster {
	t.Helper()
	texts, err := renderTexts(t, over)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{objects: make(map[string]*object), specs: make(map[string]any)}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if strings.HasSuffix(name, ".yaml") {
			c.add(t, name, []byte(texts[name]))
		}
	}
	return c
}

// Every value does something, and gives objects that fit.
func TestChartValues(t *testing.T) {
	c := render(t, `
replicaCount: 5
image: {repository: registry.example/kingshard, tag: "1.2", pullPolicy: Always}
imagePullSecrets: [{name: registry}]
service: {type: LoadBalancer, port: 9696, annotations: {example/internal: "true"}}
resources: {limits: {memory: 2Gi, cpu: "4"}}
goMemLimit: ""
preStopSeconds: 5
terminationGracePeriodSeconds: 120
podMonitor: {enabled: true, labels: {release: prometheus}}
podDisruptionBudget: {maxUnavailable: 2}
networkPolicy: {enabled: false}
extraVolumes: [{name: tls, secret: {secretName: kingshard-tls}}]
extraVolumeMounts: [{name: tls, mountPath: /etc/kingshard-tls, readOnly: true}]
nodeSelector: {disk: ssd}
tolerations: [{key: proxy, operator: Exists}]
affinity: {nodeAffinity: {}}
secrets: {APP_PASSWORD: "with: \"quotes\" and # more"}
`)
	c.check(t, "other values")
	d := c.specs["Deployment"].(*deployment)
	pod, one := d.Template.Spec, d.Template.Spec.Containers[0]
	if d.Replicas != 5 || one.Image != "registry.example/kingshard:1.2" || one.ImagePullPolicy != "Always" || pod.ImagePullSecrets[0].Name != "registry" ||
		one.Resources.Limits["memory"] != "2Gi" || one.Resources.Limits["cpu"] != "4" || one.Resources.Requests["memory"] != "256Mi" || len(one.Env) != 0 ||
		one.Lifecycle.PreStop.Sleep.Seconds != 5 || pod.TerminationGracePeriodSeconds != 120 || pod.Volumes[1].Secret.SecretName != "kingshard-tls" ||
		one.VolumeMounts[1].MountPath != "/etc/kingshard-tls" || pod.NodeSelector["disk"] != "ssd" || pod.Tolerations[0]["key"] != "proxy" || pod.Affinity["nodeAffinity"] == nil {
		t.Errorf("%+v", d)
	}
	s := c.specs["Service"].(*service)
	if s.Type != "LoadBalancer" || s.Ports[0].Port != 9696 || c.objects["Service"].Metadata.Annotations["example/internal"] != "true" {
		t.Errorf("%+v", s)
	}
	if got := c.objects["Secret"].StringData["APP_PASSWORD"]; got != `with: "quotes" and # more` {
		t.Errorf("secret %q", got)
	}
	if m := c.specs["PodMonitor"].(*podMonitor); m.JobLabel != "app.kubernetes.io/name" || c.objects["PodMonitor"].Metadata.Labels["release"] != "prometheus" ||
		d.Template.Metadata.Labels[m.JobLabel] != "kingshard" {
		t.Errorf("%+v of %v", m, c.objects["PodMonitor"].Metadata.Labels)
	}
	if c.objects["NetworkPolicy"] != nil || c.specs["PodDisruptionBudget"].(*disruptionBudget).MaxUnavailable != 2 {
		t.Error("the policy is there, or the budget is another")
	}

	existing := render(t, "existingSecret: mine\npodDisruptionBudget: {enabled: false}")
	if existing.objects["Secret"] != nil || existing.objects["PodDisruptionBudget"] != nil ||
		existing.specs["Deployment"].(*deployment).Template.Spec.Containers[0].EnvFrom[0].SecretRef.Name != "mine" {
		t.Errorf("%v", existing.objects)
	}
	if _, err := renderTexts(t, `config: ""`); err == nil || !strings.Contains(err.Error(), "ks.yaml") {
		t.Errorf("without a configuration: %v", err)
	}
	sum := func(over string) string {
		a := render(t, over).specs["Deployment"].(*deployment).Template.Metadata.Annotations
		return a["checksum/config"] + a["checksum/secrets"]
	}
	if sum("") == sum("secrets: {APP_PASSWORD: other}") || sum("") != sum("replicaCount: 3") {
		t.Error("a change of a secret must roll the pods, one of other values must not")
	}
}

// Each value has a comment and is used by a template; none is used that is not there.
func TestChartValuesAreDocumented(t *testing.T) {
	data, err := os.ReadFile(chart + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	templates := make(map[string]bool)
	files, _ := filepath.Glob(chart + "/templates/*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.Values((?:\.\w+)+)`).FindAllStringSubmatch(string(text), -1) {
			templates[m[1]] = true
		}
	}
	known := make(map[string]bool)
	var walk func(path string, n *yaml.Node, used bool)
	walk = func(path string, n *yaml.Node, used bool) {
		for k := 0; k+1 < len(n.Content); k += 2 {
			key, value := n.Content[k], n.Content[k+1]
			one := path + "." + key.Value
			known[one] = true
			inside := value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle == 0
			if key.HeadComment == "" && !inside {
				t.Errorf("values.yaml: %s has no comment", one)
			}
			if inside {
				walk(one, value, used || templates[one])
			} else if !used && !templates[one] {
				t.Errorf("values.yaml: no template uses %s", one)
			}
		}
	}
	walk("", document.Content[0], false)
	for path := range templates {
		if !known[path] {
			t.Errorf("a template uses %s, which values.yaml does not have", path)
		}
	}
	if len(known) < 25 {
		t.Errorf("only %d values", len(known))
	}
}
