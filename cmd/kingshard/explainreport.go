package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"kingshard/mysql/serverlog"
	"kingshard/mysql/sqltext"
)

// reportWidth is how wide a report is, in characters.
const reportWidth = 110

// textLines is how many lines of a statement a report shows.
const textLines = 5

// print prints the report: the classes with their digests, top of each, or all with 0, and the sums.
func (rep *logReport) print(w io.Writer, top int) {
	fmt.Fprintln(w, rep.title())
	for c := range classes {
		list := rep.of(c)
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s: %s\n\n", strings.ToUpper(classNames[c].name), classNames[c].about)
		head := "     COUNT   SHARE  "
		if rep.slow {
			head += "  TIME s  MAX s  "
		}
		fmt.Fprintln(w, head+"STATEMENT")
		indent := strings.Repeat(" ", len(head))
		for k, s := range list {
			if k == top && top > 0 {
				rest := uint64(0)
				for _, other := range list[k:] {
					rest += other.statements
				}
				fmt.Fprintf(w, "%10d  %6s  and %s more: -top 0 shows all\n", rest, rep.share(rest), count(len(list)-k, "digest"))
				break
			}
			fmt.Fprintf(w, "%10d  %6s  ", s.statements, rep.share(s.statements))
			if rep.slow {
				fmt.Fprintf(w, "%8s  %5s  ", seconds(s.time), seconds(s.max))
			}
			for n, line := range rep.lines(s, reportWidth-len(head)) {
				if n > 0 {
					fmt.Fprint(w, indent)
				}
				fmt.Fprintln(w, line)
			}
		}
	}
	rep.printSums(w)
}

// title says what was read.
func (rep *logReport) title() string {
	kind := "general log"
	if rep.slow {
		kind = "slow log"
	}
	text := fmt.Sprintf("%s: %s", rep.file, kind)
	if server := serverName(rep.server); server != "" {
		text += " of " + server
	}
	text += fmt.Sprintf(", %s of %s", count(int(rep.statements), "statement"), count(len(rep.digests), "digest"))
	if rep.columns != "" {
		text += "; columns from " + rep.columns
	}
	if span := rep.span(); span != "" {
		text += "\n" + span
	}
	if rep.columns == "" {
		text += "\nThe columns of tables are not known, so that some queries count as refused which a proxy merges or finishes:\n-schema or -servers tells them."
	}
	return text
}

// span says when the statements were sent; "" if the log does not tell.
func (rep *logReport) span() string {
	const day, clock = "2006-01-02", "15:04:05"
	first, last := rep.first.Format(day), rep.last.Format(day)
	switch {
	case rep.first.IsZero():
		return ""
	case first == last && rep.first.Format(clock) == rep.last.Format(clock):
		return rep.first.Format(day + " " + clock + " MST")
	case first == last:
		return rep.first.Format(day+" "+clock) + " to " + rep.last.Format(clock+" MST")
	}
	return rep.first.Format(day+" "+clock) + " to " + rep.last.Format(day+" "+clock+" MST")
}

func serverName(m sqltext.Mode) string {
	if m.ServerVersion == 0 {
		return ""
	}
	name := "MySQL"
	if m.MariaDB {
		name = "MariaDB"
	}
	return fmt.Sprintf("%s %d.%d.%d", name, m.ServerVersion/10000, m.ServerVersion/100%100, m.ServerVersion%100)
}

// lines are what is said of an outcome.
func (rep *logReport) lines(s shown, width int) []string {
	text := s.digest.text
	if s.digest.db != "" {
		text = "[" + s.digest.db + "] " + text
	}
	lines := wrap(text, width, textLines)
	note := func(text string) {
		for k, line := range wrap(text, width-4, textLines) {
			if k == 0 {
				lines = append(lines, "  - "+line)
			} else {
				lines = append(lines, "    "+line)
			}
		}
	}
	if s.where != "" && s.class != finished {
		note(strings.TrimSpace(s.where))
	}
	if s.reason != "" {
		note(s.reason)
	}
	if s.where != "" && s.class == finished {
		note(s.where)
	}
	if s.help != "" {
		note("what helps: " + s.help)
	}
	if others := s.others(); others != "" {
		note(others)
	}
	if s.class <= tooLong {
		note(fmt.Sprintf("first at line %d", s.line))
	}
	return lines
}

// others says how the other statements of the digest fare; "" if there are none.
func (s *shown) others() string {
	if len(s.digest.outcomes) < 2 {
		return ""
	}
	var others []string
	for k := range s.digest.outcomes {
		if other := &s.digest.outcomes[k]; other != s.outcomeRow {
			others = append(others, fmt.Sprintf("%d %s", other.statements, strings.TrimSpace(classNames[other.class].name+" "+where(other))))
		}
	}
	return fmt.Sprintf("of %d in all; the others: %s", s.digest.count, strings.Join(others, ", "))
}

// where is on how many shards, in parentheses.
func where(o *outcomeRow) string {
	if o.where == "" || o.class == finished {
		return ""
	}
	return "(" + strings.TrimSpace(o.where) + ")"
}

// printSums prints a row for each class.
func (rep *logReport) printSums(w io.Writer) {
	head := fmt.Sprintf("\n%-18s  %10s  %7s  %8s", "CLASS", "STATEMENTS", "SHARE", "DIGESTS")
	if rep.slow {
		head += fmt.Sprintf("  %9s  %7s  %8s", "TIME s", "SHARE", "MAX s")
	}
	fmt.Fprintln(w, head)
	row := func(name string, s sum) {
		fmt.Fprintf(w, "%-18s  %10d  %7s  %8d", name, s.statements, rep.share(s.statements), s.digests)
		if rep.slow {
			fmt.Fprintf(w, "  %9s  %7s  %8s", seconds(s.time), percent(float64(s.time), float64(rep.time)), seconds(s.max))
		}
		fmt.Fprintln(w)
	}
	for c, s := range rep.sums {
		if s.statements > 0 {
			row(classNames[c].name, s)
		}
	}
	row("all", rep.all())
	if left := rep.notShown(); left != "" {
		fmt.Fprintf(w, "\nnot shown: %s\n", left)
	}
}

// all is the sum of all classes.
func (rep *logReport) all() sum {
	all := sum{statements: rep.statements, digests: uint64(len(rep.digests)), time: rep.time}
	for _, s := range rep.sums {
		all.max = max(all.max, s.max)
	}
	return all
}

// notShown says what of the log the report does not show; "" if it shows all.
func (rep *logReport) notShown() string {
	var left []string
	if n := rep.left[serverlog.Prepared]; n > 0 {
		left = append(left, fmt.Sprintf("%d prepared, whose executions count", n))
	}
	if n := rep.left[serverlog.Command]; n > 0 {
		left = append(left, count(int(n), "command")+" without a statement")
	}
	if n := rep.left[serverlog.Routine]; n > 0 {
		left = append(left, fmt.Sprintf("%d within stored routines, whose calls count", n))
	}
	if rep.beyond > 0 {
		left = append(left, fmt.Sprintf("%d of more digests than %d, which count in the sums only", rep.beyond, digestsMax))
	}
	return strings.Join(left, ", ")
}

func (rep *logReport) share(n uint64) string { return percent(float64(n), float64(rep.statements)) }

// percent is a share.
func percent(n, of float64) string {
	if of == 0 {
		return "-"
	}
	switch p := 100 * n / of; {
	case p > 0 && p < 0.05:
		return "<0.1%"
	default:
		return fmt.Sprintf("%.1f%%", p)
	}
}

// seconds is a time with as many digits as are of interest.
func seconds(d time.Duration) string {
	switch s := d.Seconds(); {
	case s >= 1000:
		return fmt.Sprintf("%.0f", s)
	case s >= 10:
		return fmt.Sprintf("%.1f", s)
	default:
		return fmt.Sprintf("%.3f", s)
	}
}

// wrap breaks a text into lines, at blanks where there are some, and at most so many.
func wrap(text string, width, most int) (lines []string) {
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, text)
	for utf8.RuneCountInString(text) > width {
		end, blank := 0, 0
		for n := 0; n < width; n++ {
			if text[end] == ' ' {
				blank = end
			}
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		if end < len(text) && text[end] == ' ' {
			blank = end
		}
		if blank > len(text[:end])/2 {
			end = blank
		}
		if len(lines) == most-1 {
			return append(lines, strings.TrimRight(text[:end], " ")+" ...")
		}
		lines = append(lines, text[:end])
		text = strings.TrimLeft(text[end:], " ")
	}
	return append(lines, text)
}

// jsonReport is the report for programs.
type jsonReport struct {
	File       string       `json:"file"`
	Log        string       `json:"log"` // slow or general
	Server     string       `json:"server,omitempty"`
	Columns    string       `json:"columns"` // where they are from: dumps, servers or none
	First      string       `json:"first,omitempty"`
	Last       string       `json:"last,omitempty"`
	Statements uint64       `json:"statements"`
	Seconds    *float64     `json:"seconds,omitempty"`
	Prepared   uint64       `json:"prepared"`
	Commands   uint64       `json:"commands"`
	Routines   uint64       `json:"in_routines"`
	Beyond     uint64       `json:"statements_of_more_digests"`
	Classes    []jsonClass  `json:"classes"`
	Digests    []jsonDigest `json:"digests"`
}

type jsonClass struct {
	Class      string  `json:"class"`
	Statements uint64  `json:"statements"`
	Share      float64 `json:"share"`
	Digests    uint64  `json:"digests"`
	jsonTimes
}

type jsonTimes struct {
	Seconds    *float64 `json:"seconds,omitempty"`
	MaxSeconds *float64 `json:"max_seconds,omitempty"`
}

// jsonDigest is one outcome of a digest.
type jsonDigest struct {
	Class      string  `json:"class"`
	DB         string  `json:"db"`
	Statement  string  `json:"statement"`
	Statements uint64  `json:"statements"`
	OfDigest   uint64  `json:"of_digest"` // statements of the digest, whatever their outcome
	Share      float64 `json:"share"`
	jsonTimes
	Shards string   `json:"shards,omitempty"`
	Reason string   `json:"reason,omitempty"`
	Helps  string   `json:"helps,omitempty"`
	Tables []string `json:"tables,omitempty"`
	Line   int      `json:"first_line"`
}

func (rep *logReport) json() *jsonReport {
	out := &jsonReport{File: rep.file, Log: "general", Server: serverName(rep.server), Columns: rep.columns, Statements: rep.statements, Prepared: rep.left[serverlog.Prepared],
		Commands: rep.left[serverlog.Command], Routines: rep.left[serverlog.Routine], Beyond: rep.beyond, Classes: []jsonClass{}, Digests: []jsonDigest{}}
	if out.Columns == "" {
		out.Columns = "none"
	}
	if rep.slow {
		out.Log, out.Seconds = "slow", inSeconds(rep.time)
	}
	if !rep.first.IsZero() {
		out.First, out.Last = jsonTime(rep.first), jsonTime(rep.last)
	}
	times := func(s *sum) (t jsonTimes) {
		if rep.slow {
			t = jsonTimes{inSeconds(s.time), inSeconds(s.max)}
		}
		return t
	}
	share := func(n uint64) float64 { return float64(n) / float64(max(rep.statements, 1)) }
	for c := range classes {
		s := &rep.sums[c]
		if s.statements == 0 {
			continue
		}
		out.Classes = append(out.Classes, jsonClass{classNames[c].name, s.statements, share(s.statements), s.digests, times(s)})
		for _, one := range rep.of(c) {
			out.Digests = append(out.Digests, jsonDigest{Class: classNames[c].name, DB: one.digest.db, Statement: one.digest.text, Statements: one.statements, OfDigest: one.digest.count,
				Share: share(one.statements), jsonTimes: times(&one.sum), Shards: strings.TrimSpace(one.where), Reason: one.reason, Helps: one.help, Tables: one.tables, Line: one.line})
		}
	}
	return out
}

// jsonTime is a time with its zone, or without where that is the server's own.
func jsonTime(t time.Time) string {
	if t.Location() == serverlog.ServerTime {
		return t.Format("2006-01-02T15:04:05.999999")
	}
	return t.Format("2006-01-02T15:04:05.999999Z07:00")
}

func inSeconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}
