package queryrule

import (
	"strings"
	"testing"

	"kingshard/config"
	"kingshard/mysql/sqltext"
)

// A rule changes every place that its pattern finds; those behind it look at the outcome, which must be one statement.
func TestRewrite(t *testing.T) {
	s := rules(t,
		config.QueryRule{Name: "tried", Pattern: "orders", Rewrite: "never", DryRun: true, Next: true},
		config.QueryRule{Name: "index", Pattern: `(?i)\bfrom orders\b`, Rewrite: `\0 FORCE INDEX (at)`, Next: true},
		config.QueryRule{Name: "words", Pattern: `\b([a-d])([a-d])\b`, Rewrite: `\2\1$1\\`, Next: true},
		config.QueryRule{Name: "stop", Classes: []string{"delete"}, Block: "no"},
		config.QueryRule{Name: "class", Pattern: "^SELECT GONE", Rewrite: "DELETE", Next: true},
		config.QueryRule{Name: "two", Pattern: "MORE", Rewrite: "; SELECT 2", Next: true},
		config.QueryRule{Name: "file", Pattern: "^SELECT FILE", Rewrite: "LOAD DATA LOCAL INFILE 'x' INTO TABLE t"},
		config.QueryRule{Name: "none", Pattern: "^SELECT NOTHING$", Rewrite: ";"},
		config.QueryRule{Name: "long", Pattern: "A", Rewrite: strings.Repeat("x", 16<<10)},
		config.QueryRule{Name: "moved", Tables: []string{"here"}, Rewrite: "there", Pattern: "(?i)`?here`?", Next: true},
		config.QueryRule{Name: "closed", Tables: []string{"there"}, Block: "closed"},
	)
	for _, c := range []struct{ text, hits, becomes, refused string }{
		{"SELECT 1", "", "", ""},
		{"select a /* x */ FROM  orders WHERE b -- c", "tried index", "select a FROM orders FORCE INDEX (at) WHERE b", ""},
		{"SELECT ab, cd", "words", `SELECT ba$1\, dc$1\`, ""},
		{"SELECT GONE FROM t", "class", "DELETE FROM t", ""},
		{"DELETE FROM orders", "tried index stop", "DELETE FROM orders FORCE INDEX (at)", "no"},
		{"SELECT 1 MORE", "two", "", "the rewritten text is more than one statement"},
		{"SELECT FILE", "file", "", "the rewritten text asks for a file of the client"},
		{"SELECT NOTHING;", "none", "", "the rewritten text is empty"},
		{"SELECT " + strings.Repeat("A", 100), "long", "", "the rewritten text is too long"},
		{"SELECT * FROM `Here`", "moved closed", "SELECT * FROM there", "closed"},
	} {
		names, d := decide(s, c.text, mysql8)
		becomes, refused := "", d.Fault
		if d.Rewrite != nil {
			becomes = d.Outcome.Text
			if d.Outcome.Info != sqltext.Classify(becomes, mysql8) {
				t.Errorf("%s: %+v", c.text, d.Outcome.Info)
			}
		}
		if d.Block != nil && refused == "" {
			refused = d.Block.Block
		}
		if strings.Join(names, " ") != c.hits || becomes != c.becomes || refused != c.refused {
			t.Errorf("%.80s: %v, becomes %q, refused %q", c.text, names, becomes, refused)
		}
		st := Statement{Text: c.text, Info: sqltext.Classify(c.text, mysql8), DB: "Shop", Mode: mysql8}
		var tested []string
		last := ""
		for _, tr := range s.Test("app", nobody, &st) {
			if tr.Why != "" && strings.HasSuffix(tr.Why, "matches first") {
				continue
			}
			tested = append(tested, tr.Rule.Name)
			if tr.Text != "" {
				last = tr.Text
			}
		}
		if strings.Join(tested, " ") != c.hits || last != c.becomes {
			t.Errorf("test of %.80s: %v, becomes %q", c.text, tested, last)
		}
	}
	_, d := decide(s, "/*n2*/ SELECT /*master*/ a FROM orders", mysql8)
	if d.Outcome.Info.NodeHint != "n2" || d.Outcome.Text != "SELECT a FROM orders FORCE INDEX (at)" {
		t.Errorf("the hint is gone: %+v", d.Outcome)
	}
	if _, d = decide(s, "/*master*/ SELECT a FROM orders", mysql8); !d.Outcome.Info.Has(sqltext.MasterHint) {
		t.Errorf("the hint is gone: %+v", d.Outcome)
	}
}
