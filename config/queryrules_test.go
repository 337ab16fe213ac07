package config

import (
	"os"
	"strings"
	"testing"
)

// Every example of docs/query-rules.md is valid, but for the one that is said not to be.
func TestQueryRuleExamples(t *testing.T) {
	data, err := os.ReadFile("../docs/query-rules.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(data), "```yaml\n")[1:]
	if len(examples) < 4 {
		t.Fatalf("%d examples", len(examples))
	}
	base := strings.ReplaceAll(minimal, "app", "report")
	base = strings.Replace(base, "schema_list:", "- {name: node2, user: ks, password: sesame, master: 10.0.0.2:3306}\nschema_list:", 1)
	for _, e := range examples {
		text, _, _ := strings.Cut(e, "```")
		c, faults := Parse([]byte(base+text), "", Options{})
		if strings.Contains(text, "(?!") {
			if c != nil || len(faults) == 0 || faults[len(faults)-1].Path != "query_rules[1].pattern" {
				t.Errorf("%v for\n%s", faults, text)
			}
		} else if c == nil || len(c.QueryRules) == 0 {
			t.Errorf("%v for\n%s", faults, text)
		}
	}
}

// The order of rules is a difference, once; a rule that is new or gone does not make one of it.
func TestDiffOfRules(t *testing.T) {
	with := func(names ...string) *Config {
		c := Default()
		for _, n := range names {
			c.QueryRules = append(c.QueryRules, QueryRule{Name: n, Allow: true})
		}
		return c
	}
	for _, c := range []struct {
		old, new []string
		want     string
	}{
		{[]string{"a", "b", "c"}, []string{"b", "a", "c"}, "query_rules: a, b, c -> b, a, c"},
		{[]string{"a", "b"}, []string{"b"}, "query_rules[a]: present -> absent"},
		{[]string{"a", "b"}, []string{"a", "c", "b"}, "query_rules[c]: absent -> present"},
		{[]string{"a", "b"}, []string{"a", "b"}, ""},
	} {
		var got []string
		for _, d := range Diff(with(c.old...), with(c.new...)) {
			got = append(got, d.Path+": "+d.Old+" -> "+d.New)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%v to %v: %q, want %q", c.old, c.new, got, c.want)
		}
	}
}
