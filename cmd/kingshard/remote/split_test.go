package remote

import (
	"slices"
	"testing"
)

func TestStatements(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil}, {" ; ;; ", nil}, {"-- nothing\n;", nil},
		{"KS RELOAD", []string{"KS RELOAD"}},
		{"KS RELOAD; SHOW KS NODES;", []string{"KS RELOAD", "SHOW KS NODES"}},
		{"ks node a down;\nks node a up", []string{"ks node a down", "ks node a up"}},
		{"KS RULE TEST 'SELECT 1; SELECT 2'; KS HELP", []string{"KS RULE TEST 'SELECT 1; SELECT 2'", "KS HELP"}},
		{"KS HELP; KS EXPLAIN SELECT 1; SELECT 2;", []string{"KS HELP", "KS EXPLAIN SELECT 1; SELECT 2;"}},
		{"KS EXPLAIN; KS HELP", []string{"KS EXPLAIN; KS HELP"}},
		{"SELECT 'a;b', `c;d` /* ; */; admin help", []string{"SELECT 'a;b', `c;d` /* ; */", "admin help"}},
	} {
		if got := statements(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
