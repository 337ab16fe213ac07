package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"kingshard/mysql/serverlog"
	"kingshard/mysql/sqltext"
	"kingshard/router/plan"
)

// statementMax is the longest statement of a log that is judged, in bytes.
const statementMax = 1 << 20

// digestsMax bounds the digests of a report. Statements of others are counted by their classes alone.
const digestsMax = 100_000

// digestTextMax bounds the text of a digest, in bytes, as that of SHOW KS DIGESTS.
const digestTextMax = 1024

// outcomesMax bounds the outcomes of a digest that are told apart; further ones count as the last.
const outcomesMax = 8

// logReport is how the statements of a log would run.
type logReport struct {
	file    string
	slow    bool
	server  sqltext.Mode
	columns string // where they are from
	rules   string // the configuration and the user that the statements were judged with

	statements  uint64
	time        time.Duration
	first, last time.Time // when statements came, or were done; zero if the log does not tell
	// left are entries that are no statements of clients.
	left    [4]uint64 // by serverlog.Kind
	sums    [classes]sum
	digests map[string]*digestRow
	// beyond are the statements of digests that are not kept.
	beyond uint64
	// advised is how many outcomes were asked what would help them.
	advised int
	// steps says that what is sent is kept; stepped is for how many outcomes it was.
	steps   bool
	stepped int
}

// sum is what several statements have together.
type sum struct {
	statements, digests uint64
	time, max           time.Duration
}

func (s *sum) add(took time.Duration) {
	s.statements++
	s.time += took
	s.max = max(s.max, took)
}

// digestRow is a digest in one database.
type digestRow struct {
	db, text string
	count    uint64
	outcomes []outcomeRow
}

// outcomeRow counts the statements of a digest that would run alike.
type outcomeRow struct {
	outcome
	help string
	sum
	line   int         // of the first one
	tables []string    // with a rule, that it names
	steps  []plan.Step // of the first one, without values
}

// judgeLog prints the report of a log.
func (f *explainFlags) judgeLog(j *judge) int {
	in := io.Reader(os.Stdin)
	name := "standard input"
	if f.log != "-" {
		file, err := os.Open(f.log)
		if err != nil {
			fmt.Fprintln(os.Stderr, "kingshard explain:", err)
			return 1
		}
		defer file.Close()
		in, name = file, f.log
	}
	rep := &logReport{file: name, columns: j.columns.source(), rules: f.rules(), steps: f.html, digests: map[string]*digestRow{}}
	if err := rep.read(in, j, f.db); err != nil {
		fmt.Fprintf(os.Stderr, "kingshard explain: %s: %v\n", name, err)
		return 1
	}
	if rep.statements == 0 {
		fmt.Fprintf(os.Stderr, "kingshard explain: %s: no statement of a client is in it\n", name)
		return 1
	}
	switch {
	case f.json:
		writeJSON(os.Stdout, rep.json())
	case f.html:
		if err := rep.page(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "kingshard explain:", err)
			return 1
		}
	default:
		rep.print(os.Stdout, f.top)
	}
	return 0
}

// rules names the configuration and its user.
func (f *explainFlags) rules() string {
	text := f.file.file.Path
	if f.account.User != "" {
		text += ", user " + f.account.User
	}
	return text
}

// read judges the statements of a log. db is the current database of those of which the log does not tell it.
func (rep *logReport) read(in io.Reader, j *judge, db string) error {
	r := serverlog.NewReader(in, statementMax)
	of := j.mode // the proxy's servers', if they are known
	for {
		e, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		rep.slow = r.Slow()
		if server := r.Server(); server.ServerVersion > 0 {
			rep.server = server
			if of.ServerVersion == 0 {
				j.mode = server
			}
		}
		if e.Kind != serverlog.Statement {
			rep.left[e.Kind]++
			continue
		}
		if !e.At.IsZero() {
			if rep.first.IsZero() || e.At.Before(rep.first) {
				rep.first = e.At
			}
			if e.At.After(rep.last) {
				rep.last = e.At
			}
		}
		rep.entry(j, &e, cmp.Or(e.DB, db))
		if j.columns.failed != nil {
			return j.columns.failed
		}
	}
}

// entry judges a statement, or several in one text.
func (rep *logReport) entry(j *judge, e *serverlog.Entry, db string) {
	if e.TooLong {
		rep.count(j, e.Text, db, outcome{class: tooLong}, e)
		return
	}
	for text := e.Text; ; {
		info := sqltext.Classify(text, j.mode)
		rest := ""
		if info.Has(sqltext.Multi) && sqltext.SplitSafe(info) && info.Class != sqltext.Empty {
			rest = text[info.Next:]
			info.Traits &^= sqltext.Multi
		}
		one := text[info.First:info.End]
		rep.count(j, one, db, j.outcome(one, db, &info), e)
		if info.Class == sqltext.Use {
			if used, ok := sqltext.ParseUse(one, j.mode); ok {
				db = used
			}
		}
		if rest == "" {
			return
		}
		text = rest
	}
}

// count counts a statement.
func (rep *logReport) count(j *judge, text, db string, o outcome, e *serverlog.Entry) {
	rep.statements++
	rep.time += e.Time
	rep.sums[o.class].add(e.Time)
	key := append(append(make([]byte, 0, 256), db...), 0)
	key = sqltext.AppendNormal(key, text, j.mode, digestTextMax)
	d := rep.digests[string(key)]
	if d == nil {
		if len(rep.digests) >= digestsMax {
			rep.beyond++
			return
		}
		all := strings.ToValidUTF8(string(key), "?")
		d = &digestRow{db: all[:strings.IndexByte(all, 0)], text: all[strings.IndexByte(all, 0)+1:]}
		rep.digests[string(key)] = d
	}
	d.count++
	o.reason = withoutValues(o.reason, j.mode)
	k := slices.IndexFunc(d.outcomes, func(r outcomeRow) bool { return r.class == o.class && r.where == o.where })
	if k < 0 {
		if k = slices.IndexFunc(d.outcomes, func(r outcomeRow) bool { return r.class == o.class }); k < 0 || len(d.outcomes) < outcomesMax {
			if k < 0 {
				rep.sums[o.class].digests++
			}
			k = len(d.outcomes)
			row := outcomeRow{line: e.Line, tables: j.tablesOf(text, db, o.plan), steps: rep.stepsOf(j, text, db, &o)}
			row.help = rep.advice(&o)
			row.outcome = o
			d.outcomes = append(d.outcomes, row)
		}
	}
	d.outcomes[k].add(e.Time)
}

// advisedMax bounds how many outcomes are asked what would help: that plans each anew, several times.
const advisedMax = 5_000

// advice says what would have a statement ask fewer shards, or be no longer refused. It lets go of the plan.
func (rep *logReport) advice(o *outcome) (help string) {
	p := o.plan
	if o.plan = nil; p == nil || o.class == oneShard || rep.advised >= advisedMax {
		return ""
	}
	rep.advised++
	return p.Advice()
}

// steppedMax bounds the outcomes of which it is kept what is sent, and stepsMax what is kept of each.
const (
	steppedMax = 5_000
	stepsMax   = 20
)

// stepsOf is what a statement with a plan has sent, without values.
func (rep *logReport) stepsOf(j *judge, text, db string, o *outcome) []plan.Step {
	if !rep.steps || o.plan == nil || rep.stepped >= steppedMax {
		return nil
	}
	rep.stepped++
	steps, err := j.steps(text, db, sqltext.Classify(text, j.mode))
	if err != nil {
		return nil
	}
	for k := range steps {
		s := &steps[k]
		s.SQL, s.Reason = string(sqltext.AppendNormal(nil, s.SQL, j.mode, digestTextMax)), withoutValues(s.Reason, j.mode)
	}
	if len(steps) > stepsMax {
		rest := len(steps) - stepsMax
		steps = append(steps[:stepsMax:stepsMax], plan.Step{Reason: "and " + count(rest, "step") + " more"})
	}
	return steps
}

// shown is an outcome with its digest.
type shown struct {
	*outcomeRow
	digest *digestRow
}

// of lists the outcomes of a class, those with the most statements first.
func (rep *logReport) of(c class) (list []shown) {
	for _, d := range rep.digests {
		for k := range d.outcomes {
			if d.outcomes[k].class == c {
				list = append(list, shown{&d.outcomes[k], d})
			}
		}
	}
	slices.SortFunc(list, func(a, b shown) int {
		return cmp.Or(cmp.Compare(b.statements, a.statements), cmp.Compare(b.time, a.time), cmp.Compare(a.digest.db, b.digest.db), cmp.Compare(a.digest.text, b.digest.text), cmp.Compare(a.where, b.where))
	})
	return list
}

// withoutValues takes what a reason quotes of a statement for its normal form: reports have no values.
func withoutValues(reason string, m sqltext.Mode) string {
	before, quoted, ok := strings.Cut(reason, "\"")
	if !ok {
		return reason
	}
	if strings.HasSuffix(before, "near ") {
		return before + string(sqltext.AppendNormal(nil, strings.TrimSuffix(strings.TrimSpace(quoted), "\""), m, digestTextMax))
	}
	_, behind, _ := strings.Cut(quoted, "\"")
	return before + "?" + withoutValues(behind, m)
}
