package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
	"kingshard/router/plan"
)

// explainCommand prints the plan of a statement.
var explainCommand = command{
	name: "explain", args: "'SQL'", summary: "how a statement would run",
	about: `Shows how a statement would run: a block for each statement that a server would get. No server is asked, so the columns of
tables are not known: key values are placed by the way they are written (42 as a number, '42' as text), and some queries
are refused that a running proxy merges or finishes; its own EXPLAIN knows. Exit status: 0 it would run, 1 it is refused or
the configuration is not valid, 2 wrong arguments.`,
	bind: func(set *flag.FlagSet) func([]string) int {
		f := bindSchema(set)
		set.StringVar(&f.db, "db", "", "current `database`; when left out, that of the rules if all have the same")
		set.StringVar(&f.db, "d", "", "short for -db")
		return f.explain
	},
}

func (f *schemaFlags) explain(args []string) int {
	if len(args) != 1 || strings.TrimSpace(args[0]) == "" {
		fmt.Fprintln(os.Stderr, "kingshard explain: give one statement, in quotes, behind the flags")
		return 2
	}
	text := args[0]
	info := sqltext.Classify(text, sqltext.Mode{})
	if info.Has(sqltext.Multi) {
		fmt.Fprintln(os.Stderr, "kingshard explain: several statements; give one")
		return 2
	}
	r, code := f.router()
	if r == nil {
		return code
	}
	if f.db == "" {
		f.db = r.OnlyDB()
	}
	steps, err := f.plan(r, text[info.First:info.End], info)
	if err != nil {
		kind := "unreadable"
		if plan.IsRefusal(err) {
			kind = "refuse"
		}
		steps = []plan.Step{{Plan: kind, Reason: err.Error()}}
	}
	printSteps(os.Stdout, steps)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard explain: the columns of tables are not known without a server; EXPLAIN on the running proxy may find a way")
		return 1
	}
	return 0
}

// plan gives the steps of a statement as the proxy would take them.
func (f *schemaFlags) plan(r *router.Router, text string, info sqltext.Info) ([]plan.Step, error) {
	if info.NodeHint != "" && f.account.Hints && slices.Contains(f.nodes, info.NodeHint) {
		return []plan.Step{{Plan: "forward", Reason: "a hint names the node", Node: info.NodeHint, SQL: text}}, nil
	}
	if info.Class == sqltext.Explain {
		if inner, ok := sqlparse.Explained(text, sqltext.Mode{}); ok {
			text = inner
		}
	}
	whole := []plan.Step{{Plan: "forward", Reason: "no table with a rule: the default node", Node: r.Default(), SQL: text}}
	names := map[string]bool{}
	for _, t := range r.Tables() {
		names[strings.ToLower(t.Name)] = true
	}
	watched := func(name string) bool { return names[strings.ToLower(name)] }
	if !mentions(text, watched) {
		return whole, nil // it need not be understood: the server reads it
	}
	st, err := sqlparse.Parse(text, sqltext.Mode{}, watched)
	if err != nil {
		return nil, err
	}
	p, err := plan.Build(st, sqltext.Mode{}, r, f.db, func(*router.Table) (_, _ []mysql.ColumnDefinition41) { return nil, nil })
	if err != nil {
		return nil, err
	}
	if p == nil {
		return whole, nil
	}
	return plan.Explain(p)
}

// mentions tells whether a word or a quoted name of a text is watched.
func mentions(text string, watched func(name string) bool) bool {
	l := sqltext.NewLexer(text, sqltext.Mode{})
	for {
		switch t := l.Next(); t.Kind {
		case sqltext.KindEOF:
			return false
		case sqltext.KindWord:
			if watched(text[t.Pos:t.End]) {
				return true
			}
		case sqltext.KindQuotedIdent:
			if t.End-t.Pos > 2 && watched(text[t.Pos+1:t.End-1]) {
				return true
			}
		}
	}
}

// printSteps prints a block for each step.
func printSteps(w io.Writer, steps []plan.Step) {
	for k, s := range steps {
		if k > 0 {
			fmt.Fprintln(w)
		}
		for _, line := range []struct{ label, text string }{
			{"plan", s.Plan}, {"reason", s.Reason}, {"node", s.Node}, {"shards", strings.Join(s.Shards, ", ")}, {"sql", s.SQL}, {"into", s.Scratch}, {"help", s.Help},
		} {
			if line.text != "" {
				fmt.Fprintf(w, "%-6s  %s\n", line.label, strings.TrimSpace(line.text))
			}
		}
	}
}
