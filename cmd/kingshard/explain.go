package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/router/plan"
)

// explainCommand prints the plan of a statement, or judges those of a log.
var explainCommand = command{
	name: "explain", args: "'SQL'", summary: "how a statement, or those of a log, would run",
	about: `Shows how a statement would run: a block for each statement that a server would get. With -log it reads the slow query log
or the general query log of MySQL or MariaDB instead, and shows how the statements in there would run, by digest: as text, as
JSON, or as a page for a browser with -html, which has what is sent for the first statement of each digest, too. No value of a
statement is in any of them.

-schema has the columns of tables from dumps (mysqldump --no-data, mariadb-dump --no-data), -servers from the servers of the
configuration, which are only read. With neither, no server is asked and the columns are not known: key values are placed by
the way they are written (42 as a number, '42' as text), and some queries are refused that a running proxy merges or finishes.

Exit status: 0 the statement would run, or with -log the report was made, whatever it says; 1 the statement is refused, a
file cannot be read, a server cannot be asked, or the configuration is not valid; 2 wrong arguments.`,
	bind: func(set *flag.FlagSet) func([]string) int {
		f := &explainFlags{schemaFlags: bindSchema(set)}
		set.StringVar(&f.db, "db", "", "current `database`, and that of dumps without USE; when left out, that of the rules if all have the same")
		set.StringVar(&f.db, "d", "", "short for -db")
		set.Func("schema", "dump `file` with the definitions of tables; may be given several times", func(name string) error {
			f.dumps = append(f.dumps, name)
			return nil
		})
		set.BoolVar(&f.servers, "servers", false, "ask the servers of the configuration for the columns of tables")
		set.StringVar(&f.log, "log", "", "slow query log or general query log `file` to judge; - is standard input")
		set.BoolVar(&f.json, "json", false, "print JSON")
		set.BoolVar(&f.html, "html", false, "print the report of a log as a page: -log FILE -html > report.html")
		set.IntVar(&f.top, "top", 20, "how many digests of each class a report shows, most statements first; 0 is all. JSON and the page have all")
		return f.explain
	},
}

// explainFlags are the flags of explain.
type explainFlags struct {
	*schemaFlags
	dumps   []string
	servers bool
	log     string
	json    bool
	html    bool
	top     int
}

func (f *explainFlags) explain(args []string) int {
	wrong := func(format string, args ...any) int {
		fmt.Fprintf(os.Stderr, "kingshard explain: "+format+"\n", args...)
		return 2
	}
	switch {
	case f.servers && len(f.dumps) > 0:
		return wrong("-schema or -servers: one of them")
	case f.log != "" && len(args) > 0:
		return wrong("a statement or -log: one of them")
	case f.top < 0:
		return wrong("-top cannot be negative")
	case f.html && f.json:
		return wrong("-json or -html: one of them")
	case f.html && f.log == "":
		return wrong("-html shows the report of a log: -log names it")
	case f.log == "" && (len(args) != 1 || strings.TrimSpace(args[0]) == ""):
		return wrong("give one statement, in quotes, behind the flags")
	}
	if f.log == "" && sqltext.Classify(args[0], sqltext.Mode{}).Has(sqltext.Multi) {
		return wrong("several statements; give one")
	}
	cfg, code := f.config()
	if cfg == nil {
		return code
	}
	r, code := f.routerOf(cfg, false)
	if r == nil {
		return code
	}
	given := f.db
	if f.db == "" {
		f.db = r.OnlyDB()
	}
	known, r, code := f.knowColumns(cfg, r, given)
	if known == nil {
		return code
	}
	defer known.close()
	j := newJudge(r, known, f.hintedNodes())
	if f.log != "" {
		return f.judgeLog(j)
	}
	return f.explainOne(j, args[0])
}

// explainOne prints how one statement would run.
func (f *explainFlags) explainOne(j *judge, text string) int {
	info := sqltext.Classify(text, j.mode)
	steps, err := j.steps(text[info.First:info.End], f.db, info)
	if j.columns.failed != nil {
		fmt.Fprintln(os.Stderr, "kingshard explain:", j.columns.failed)
		return 1
	}
	if err != nil {
		steps = []plan.Step{{Plan: "unreadable", Reason: err.Error()}}
		if text := refusalOf(err); text != "" {
			steps = []plan.Step{{Plan: "refuse", Reason: text}}
		}
	}
	if f.json {
		printJSON(steps)
	} else {
		printSteps(os.Stdout, steps)
	}
	if err == nil {
		return 0
	}
	if j.columns.none() {
		fmt.Fprintln(os.Stderr, "kingshard explain: the columns of tables are not known: -schema or -servers tells them, and a way may be found")
	}
	return 1
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

// printJSON prints steps as a list.
func printJSON(steps []plan.Step) {
	type row struct {
		Plan    string   `json:"plan"`
		Reason  string   `json:"reason,omitempty"`
		Node    string   `json:"node,omitempty"`
		Shards  []string `json:"shards,omitempty"`
		SQL     string   `json:"sql,omitempty"`
		Scratch string   `json:"scratch,omitempty"`
		Help    string   `json:"help,omitempty"`
	}
	rows := make([]row, 0, len(steps))
	for _, s := range steps {
		rows = append(rows, row(s))
	}
	writeJSON(os.Stdout, rows)
}

func writeJSON(w io.Writer, v any) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(v)
}
