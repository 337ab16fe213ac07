package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/prometheus/common/model"
	"gopkg.in/yaml.v3"

	"kingshard/mysql/mysqltest"
)

// board is what the test reads of a Grafana dashboard.
type board struct {
	UID, Title, Description string
	Annotations             struct{ List []target }
	Templating              struct {
		List []struct {
			Name, Type, Query, AllValue string
		}
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ H, W, X, Y int }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []target
}

type target struct{ Expr, LegendFormat, TextFormat string }

// braces are the label names of a legend.
var braces = regexp.MustCompile(`{{\s*(\w+)\s*}}`)

// grafana puts something readable in the place of Grafana's variables.
var grafana = strings.NewReplacer("$__rate_interval", "5m")

// Every expression of a dashboard is about metrics, labels and values that a proxy exports, and makes sense by their kind;
// every metric of ours is on a dashboard.
func TestDashboards(t *testing.T) {
	e := exported(t)
	files, _ := filepath.Glob("../etc/grafana/*.json")
	if len(files) != 4 {
		t.Fatalf("dashboards %v", files)
	}
	uids := make(map[string]string)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var b board
		if err := json.Unmarshal(data, &b); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if other := uids[b.UID]; other != "" || b.UID == "" || b.Title == "" || b.Description == "" {
			t.Errorf("%s: uid %q (also of %q), title %q, description %q", file, b.UID, other, b.Title, b.Description)
		}
		uids[b.UID] = file
		checkBoard(t, e, filepath.Base(file), b)
	}
	for name := range e.metrics {
		if strings.HasPrefix(name, "kingshard_") && !e.used[name] {
			t.Errorf("no dashboard shows %s", name)
		}
	}
}

func checkBoard(t *testing.T, e *exposition, name string, b board) {
	variables := make(map[string]bool)
	for _, v := range b.Templating.List {
		variables["$"+v.Name] = true
		if v.Type == "query" {
			m := regexp.MustCompile(`^label_values\((.*), (\w+)\)$`).FindStringSubmatch(v.Query)
			if m == nil {
				t.Errorf("%s: variable %s: %s", name, v.Name, v.Query)
				continue
			}
			labels, err := e.check(m[1])
			if err != nil || !labels[m[2]] || v.AllValue != ".*" {
				t.Errorf("%s: variable %s: %s, of %v: %v", name, v.Name, v.Query, labels, err)
			}
		}
	}
	check := func(where string, of target) {
		for _, v := range regexp.MustCompile(`\$\w+`).FindAllString(of.Expr, -1) {
			if !variables[v] && v != "$__rate_interval" {
				t.Errorf("%s: %s: no variable %s", name, where, v)
			}
		}
		labels, err := e.check(grafana.Replace(of.Expr))
		if err != nil {
			t.Errorf("%s: %s: %s: %v", name, where, of.Expr, err)
			return
		}
		for _, m := range braces.FindAllStringSubmatch(of.LegendFormat+of.TextFormat, -1) {
			if !labels[m[1]] {
				t.Errorf("%s: %s: the legend names %s, the series have %v", name, where, m[1], slices.Sorted(maps.Keys(labels)))
			}
		}
	}
	for _, a := range b.Annotations.List {
		check("annotation", a)
	}
	ids, taken := make(map[int]bool), make(map[[2]int]string)
	for _, p := range b.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0 || p.FieldConfig.Defaults.Unit == "") {
			t.Errorf("%s: panel %d %q: an id of its own, a title, a description, a unit and targets are wanted", name, p.ID, p.Title)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
			t.Errorf("%s: %s: place %v", name, p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%s: %s lies on %s", name, p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		for _, one := range p.Targets {
			check(p.Title, one)
		}
	}
}

// ruleFile is a rule file of Prometheus, with the fields that ours may have.
type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []alert
	}
}

type alert struct {
	Alert       string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

// The same for alerts; and each names a section of docs/operations.md, which has none for others.
func TestAlerts(t *testing.T) {
	e := exported(t)
	data, err := os.ReadFile("../etc/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules ruleFile
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(?m)^### (Kingshard\w+)$`).FindAllStringSubmatch(string(document), -1) {
		sections[m[1]] = true
	}
	names := make(map[string]bool)
	for _, g := range rules.Groups {
		for _, a := range g.Rules {
			if names[a.Alert] || !regexp.MustCompile(`^Kingshard[A-Z]\w+$`).MatchString(a.Alert) {
				t.Errorf("name %q", a.Alert)
			}
			names[a.Alert] = true
			if err := checkAlert(e, a); err != nil {
				t.Errorf("%s: %v", a.Alert, err)
			}
			if !sections[a.Alert] || a.Annotations["runbook"] != "docs/operations.md#"+strings.ToLower(a.Alert) {
				t.Errorf("%s: runbook %q; its section in docs/operations.md: %v", a.Alert, a.Annotations["runbook"], sections[a.Alert])
			}
		}
	}
	for section := range sections {
		if !names[section] {
			t.Errorf("docs/operations.md has a runbook for %s, which is no alert", section)
		}
	}
	if len(names) < 15 {
		t.Errorf("only %d alerts", len(names))
	}
}

func checkAlert(e *exposition, a alert) error {
	labels, err := e.check(a.Expr)
	if err != nil {
		return err
	}
	if a.For != "" {
		if _, err := model.ParseDuration(a.For); err != nil {
			return err
		}
	}
	if !slices.Contains([]string{"critical", "warning"}, a.Labels["severity"]) || len(a.Labels) != 1 {
		return fmt.Errorf("labels %v", a.Labels)
	}
	if len(a.Annotations) != 3 {
		return fmt.Errorf("annotations %v: summary, description and runbook are wanted", slices.Sorted(maps.Keys(a.Annotations)))
	}
	human := func(v float64) string { return fmt.Sprint(v) }
	functions := template.FuncMap{"humanize": human, "humanizePercentage": human, "humanizeDuration": human}
	series := make(map[string]string)
	for l := range labels {
		series[l] = "some " + l
	}
	for _, text := range []string{"summary", "description"} {
		// Prometheus defines these variables ahead of every template.
		parsed, err := template.New(text).Funcs(functions).Option("missingkey=error").
			Parse(`{{$labels := .Labels}}{{$value := .Value}}` + a.Annotations[text])
		if err != nil {
			return err
		}
		var out strings.Builder
		err = parsed.Execute(&out, struct {
			Labels map[string]string
			Value  float64
		}{series, 0.5})
		if err != nil || out.Len() == 0 {
			return fmt.Errorf("%s: %q, %w", text, out.String(), err)
		}
	}
	return nil
}

// exported gives what a proxy exports that has answered a statement.
func exported(t *testing.T) *exposition {
	t.Helper()
	server := startScript(t, "script")
	p := startProxy(t, configText([]node{{name: "n", master: server.Addr, slave: startScript(t, "replica").Addr, conns: 2}}, "prometheus_addr: 127.0.0.1:0"), "primary_wait_timeout: 5s")
	must(t, p.client(""), "SELECT name")
	// A statement is counted after its answer is sent.
	mysqltest.WaitFor(t, "the statement to be counted", func() bool { return p.Totals().Commands["COM_QUERY"] > 0 })
	mysqltest.WaitFor(t, "the replica to tell its lag", func() bool { _, asked := p.Nodes()["n"].Replicas[0].Lag(); return asked })
	status, body := get(t, p.httpAddr("prometheus_addr")+"/metrics", "")
	if status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	e, err := parseExposition(body)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
