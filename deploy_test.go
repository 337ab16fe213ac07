package kingshard

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"kingshard/config"
)

// cluster is a set of objects by kind; a spec is behind its pointer type.
type cluster struct {
	objects map[string]*object
	specs   map[string]any
}

// strict decodes one document, in which no unknown field may be; false at the end of the stream.
func strict(t *testing.T, name string, d *yaml.Decoder, into any) bool {
	t.Helper()
	d.KnownFields(true)
	err := d.Decode(into)
	if errors.Is(err, io.EOF) {
		return false
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return true
}

// add reads the objects of a file.
func (c *cluster) add(t *testing.T, name string, data []byte) {
	t.Helper()
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		o := new(object)
		if !strict(t, name, d, o) {
			return
		}
		if o.Kind == "" {
			continue // a template that gave nothing
		}
		newSpec, known := kinds[o.APIVersion+" "+o.Kind]
		if !known || c.objects[o.Kind] != nil || o.Metadata.Name == "" {
			t.Fatalf("%s: a %s %s named %q", name, o.APIVersion, o.Kind, o.Metadata.Name)
		}
		c.objects[o.Kind] = o
		spec := newSpec()
		if (spec == nil) != (o.Spec.Kind == 0) {
			t.Fatalf("%s: %s, spec %v", name, o.Kind, o.Spec.Kind)
		}
		if spec != nil {
			text, err := yaml.Marshal(&o.Spec)
			if err != nil {
				t.Fatal(err)
			}
			strict(t, name, yaml.NewDecoder(bytes.NewReader(text)), spec)
			c.specs[o.Kind] = spec
		}
	}
}

// kustomization reads etc/kubernetes, as kubectl apply -k would.
func kustomization(t *testing.T) *cluster {
	t.Helper()
	const dir = "etc/kubernetes"
	var k struct {
		APIVersion         string `yaml:"apiVersion"`
		Kind               string
		Resources          []string
		ConfigMapGenerator []struct {
			Name  string
			Files []string
		} `yaml:"configMapGenerator"`
		SecretGenerator []struct {
			Name string
			Envs []string
		} `yaml:"secretGenerator"`
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	strict(t, "kustomization.yaml", yaml.NewDecoder(bytes.NewReader(read("kustomization.yaml"))), &k)
	c := &cluster{objects: make(map[string]*object), specs: make(map[string]any)}
	for _, name := range k.Resources {
		c.add(t, name, read(name))
	}
	secrets := make(map[string]string)
	for _, line := range strings.Split(string(read(k.SecretGenerator[0].Envs[0])), "\n") {
		if name, value, ok := strings.Cut(line, "="); ok && line[0] != '#' {
			secrets[name] = value
		}
	}
	c.objects["Secret"] = &object{Kind: "Secret", Metadata: metadata{Name: k.SecretGenerator[0].Name}, StringData: secrets}
	file := k.ConfigMapGenerator[0].Files[0]
	c.objects["ConfigMap"] = &object{Kind: "ConfigMap", Metadata: metadata{Name: k.ConfigMapGenerator[0].Name}, Data: map[string]string{file: string(read(file))}}
	return c
}

// check tells whether the objects fit each other and the proxy.
func (c *cluster) check(t *testing.T, name string) *config.Config {
	t.Helper()
	pod := &c.specs["Deployment"].(*deployment).Template
	labels, one := pod.Metadata.Labels, pod.Spec.Containers[0]
	for kind, s := range map[string]map[string]string{
		"Deployment": c.specs["Deployment"].(*deployment).Selector.MatchLabels, "Service": c.specs["Service"].(*service).Selector,
	} {
		for key, value := range s {
			if labels[key] != value || len(s) == 0 {
				t.Errorf("%s: the %s selects %v, the pods have %v", name, kind, s, labels)
			}
		}
	}
	for key, value := range c.objects["Secret"].StringData {
		t.Setenv(key, value)
	}
	cfg, faults := config.Parse([]byte(c.objects["ConfigMap"].Data["ks.yaml"]), t.TempDir(), config.Options{})
	if len(faults) > 0 {
		t.Fatalf("%s: ks.yaml: %v", name, faults)
	}
	ports := make(map[string]string)
	for _, p := range one.Ports {
		ports[p.Name] = strconv.Itoa(p.ContainerPort)
	}
	for port, addr := range map[string]string{"mysql": cfg.Addr, "metrics": cfg.PrometheusAddr} {
		if host, number, _ := net.SplitHostPort(addr); host != "0.0.0.0" || number != ports[port] {
			t.Errorf("%s: the port %s is %s, the proxy listens on %s", name, port, ports[port], addr)
		}
	}
	if c.specs["Service"].(*service).Ports[0].TargetPort != "mysql" || pod.Metadata.Annotations["prometheus.io/port"] != ports["metrics"] {
		t.Errorf("%s: service %+v, annotations %v", name, c.specs["Service"], pod.Metadata.Annotations)
	}
	for path, p := range map[string]probe{"/livez": one.LivenessProbe, "/readyz": one.ReadinessProbe} {
		if p.HTTPGet.Path != path || p.HTTPGet.Port != "metrics" || p.TimeoutSeconds < 1 {
			t.Errorf("%s: probe %+v", name, p)
		}
	}
	grace := time.Duration(pod.Spec.TerminationGracePeriodSeconds) * time.Second
	if need := time.Duration(one.Lifecycle.PreStop.Sleep.Seconds)*time.Second + cfg.DrainTimeout.Duration() + 10*time.Second; grace < need {
		t.Errorf("%s: killed after %v; preStop and the drain need %v", name, grace, need)
	}
	security := one.SecurityContext
	if !pod.Spec.SecurityContext.RunAsNonRoot || pod.Spec.SecurityContext.RunAsUser == 0 || !security.ReadOnlyRootFilesystem ||
		security.AllowPrivilegeEscalation == nil || *security.AllowPrivilegeEscalation || !slices.Equal(security.Capabilities["drop"], []string{"ALL"}) ||
		pod.Spec.AutomountServiceAccountToken == nil || *pod.Spec.AutomountServiceAccountToken {
		t.Errorf("%s: the pod may more than it needs: %+v %+v", name, pod.Spec.SecurityContext, security)
	}
	if mount := one.VolumeMounts[0]; !slices.Equal(one.Args, []string{"-config", mount.MountPath + "/ks.yaml"}) || pod.Spec.Volumes[0].Name != mount.Name ||
		pod.Spec.Volumes[0].ConfigMap.Name != c.objects["ConfigMap"].Metadata.Name {
		t.Errorf("%s: args %v, mount %+v, volumes %+v", name, one.Args, mount, pod.Spec.Volumes)
	}
	if one.EnvFrom[0].SecretRef.Name != c.objects["Secret"].Metadata.Name {
		t.Errorf("%s: the environment is that of %s", name, one.EnvFrom[0].SecretRef.Name)
	}
	return cfg
}

func TestKubernetes(t *testing.T) {
	c := kustomization(t)
	c.check(t, "etc/kubernetes")
	if len(c.specs) != 4 {
		t.Errorf("%d objects", len(c.specs))
	}
}

// The chart with its defaults gives what etc/kubernetes says, in the pods and in the configuration.
func TestChartIsTheManifests(t *testing.T) {
	chart, plain := render(t, ""), kustomization(t)
	a, b := chart.check(t, "chart"), plain.check(t, "etc/kubernetes")
	if changes := config.Diff(a, b); len(changes) > 0 {
		t.Errorf("the configurations differ: %v", changes)
	}
	x, y := chart.specs["Deployment"].(*deployment), plain.specs["Deployment"].(*deployment)
	for _, d := range []*deployment{x, y} {
		d.Template.Spec.TopologySpreadConstraints[0].LabelSelector = selector{}
		d.Template.Spec.Containers[0].ImagePullPolicy = ""
	}
	if !reflect.DeepEqual(x.Template.Spec, y.Template.Spec) || !reflect.DeepEqual(x.Strategy, y.Strategy) || x.Replicas != y.Replicas {
		t.Errorf("the pods differ:\n%+v\n%+v", x.Template.Spec, y.Template.Spec)
	}
	if p, q := chart.specs["NetworkPolicy"].(*networkPolicy), plain.specs["NetworkPolicy"].(*networkPolicy); !reflect.DeepEqual(p.Ingress, q.Ingress) {
		t.Errorf("the policies differ:\n%+v\n%+v", p.Ingress, q.Ingress)
	}
}

// The image is the binary alone, run by the user of the manifests, from the toolchain of go.mod.
func TestDockerfile(t *testing.T) {
	data, err := os.ReadFile("etc/docker/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	minor := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)[1]
	text := string(data)
	_, last, ok := strings.Cut(text, "\nFROM scratch\n")
	if !ok || strings.Contains(last, "\nFROM ") || !strings.Contains(text, "FROM golang:"+string(minor)+" AS build\n") {
		t.Errorf("stages of\n%s", text)
	}
	pod := kustomization(t).specs["Deployment"].(*deployment).Template.Spec
	var wants []string
	for _, p := range pod.Containers[0].Ports {
		wants = append(wants, strconv.Itoa(p.ContainerPort))
	}
	wants = []string{
		"\nEXPOSE " + strings.Join(wants, " ") + "\n",
		"\nUSER " + strconv.Itoa(pod.SecurityContext.RunAsUser) + ":" + strconv.Itoa(pod.SecurityContext.RunAsGroup) + "\n",
		"\nENTRYPOINT [\"/kingshard\"]\n", "\nCMD [\"" + strings.Join(pod.Containers[0].Args, "\", \"") + "\"]\n", "--from=build /kingshard /kingshard\n",
	}
	for _, want := range wants {
		if !strings.Contains(last, want) {
			t.Errorf("no %q in\n%s", want, last)
		}
	}
	if !strings.Contains(text, "CGO_ENABLED=0") || !strings.Contains(text, "-X main.version=${VERSION}") {
		t.Errorf("how the binary is built:\n%s", text)
	}
}
