package kingshard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"
)

const chart = "etc/helm/kingshard"

// rendererDir is where renderer is, "" before it was built.
var rendererDir string

// renderer builds etc/helm/render, once.
var renderer = sync.OnceValues(func() (string, error) {
	var err error
	if rendererDir, err = os.MkdirTemp("", "kingshard-helm-"); err != nil {
		return "", err
	}
	file := filepath.Join(rendererDir, "render")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Dir = "etc/helm/render"
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return file, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if rendererDir != "" {
		_ = os.RemoveAll(rendererDir)
	}
	os.Exit(code)
}

// renderTexts gives what Helm makes of each template, with other values over the chart's.
func renderTexts(t *testing.T, over string) (map[string]string, error) {
	t.Helper()
	file, err := renderer()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	c := exec.Command(file, chart)
	c.Stdin, c.Stderr = strings.NewReader(over), &errs
	out, err := c.Output()
	if err != nil {
		return nil, errors.New(errs.String())
	}
	var texts, short map[string]string
	if err := json.Unmarshal(out, &texts); err != nil {
		t.Fatal(err)
	}
	short = make(map[string]string)
	for name, text := range texts {
		short[filepath.Base(name)] = text
	}
	return short, nil
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
	if _, err := renderTexts(t, `config: ""`); err == nil || !strings.Contains(err.Error(), "config") {
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

// chartKeys calls f with the path of every key of values.yaml and its default; a mapping's own keys come behind it.
func chartKeys(t *testing.T, f func(path []string, value any)) {
	t.Helper()
	data, err := os.ReadFile(chart + "/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	var walk func(path []string, m map[string]any)
	walk = func(path []string, m map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			one := append(path[:len(path):len(path)], key)
			f(one, m[key])
			// Those of these mappings are the user's to choose.
			if inner, ok := m[key].(map[string]any); ok && !slices.Contains([]string{"secrets", "annotations", "podAnnotations", "labels", "requests", "limits", "nodeSelector"}, key) {
				walk(one, inner)
			}
		}
	}
	walk(nil, all)
}

// under puts a value at a path.
func under(path []string, value any) string {
	for _, key := range slices.Backward(path) {
		value = map[string]any{key: value}
	}
	data, err := yaml.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// A misspelt value, or one of another type, is refused; an empty one is, or gives objects that are whole.
func TestChartRefuses(t *testing.T) {
	keys := 0
	chartKeys(t, func(path []string, value any) {
		keys++
		misspelt := slices.Clone(path)
		misspelt[len(path)-1] += "s"
		if _, err := renderTexts(t, under(misspelt, value)); err == nil {
			t.Errorf("%s is taken", strings.Join(misspelt, "."))
		}
		for _, other := range []any{"a word", 7, true, []any{"a"}, map[string]any{"a": "b"}} {
			if reflect.TypeOf(other) == reflect.TypeOf(value) {
				continue
			}
			if _, err := renderTexts(t, under(path, other)); err == nil {
				t.Errorf("%s: %v is taken", strings.Join(path, "."), other)
			}
		}
		var empty any
		switch value.(type) {
		case []any:
			empty = []any{}
		case map[string]any:
			empty = map[string]any{}
		case bool:
			empty = false
		case string:
			empty = ""
		case int:
			empty = 0
		}
		if texts, err := renderTexts(t, under(path, empty)); err == nil {
			for name, text := range texts {
				var object any
				if err := yaml.Unmarshal([]byte(text), &object); err != nil && strings.HasSuffix(name, ".yaml") {
					t.Errorf("%s: %v: %s: %v", strings.Join(path, "."), empty, name, err)
				}
			}
		}
	})
	if keys < 30 {
		t.Errorf("only %d keys", keys)
	}
}

// A policy with no clients lets nobody in, not everybody, and the metrics are apart from that.
func TestChartPolicyWithoutClients(t *testing.T) {
	for over, want := range map[string]int{
		"networkPolicy: {clients: []}": 1, "networkPolicy: {metrics: []}": 1, "networkPolicy: {clients: [], metrics: []}": 0, "": 2,
	} {
		p := render(t, over).specs["NetworkPolicy"].(*networkPolicy)
		if len(p.Ingress) != want || !slices.Equal(p.PolicyTypes, []string{"Ingress"}) {
			t.Errorf("%s: %+v", over, p)
		}
		for _, rule := range p.Ingress {
			if len(rule.From) == 0 || len(rule.Ports) != 1 {
				t.Errorf("%s: a rule for everybody: %+v", over, rule)
			}
		}
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
