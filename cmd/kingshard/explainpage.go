package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"kingshard/router/plan"
)

//go:embed explainpage.html
var pageText string

// pageDigestsMax bounds the digests that a page lists: a browser takes no more with pleasure.
const pageDigestsMax = 2_000

// pageShardsMax is how many shards of a step a page names.
const pageShardsMax = 8

// pageTextLong is how many bytes of a text with no steps are shown at once.
const pageTextLong = 300

// pageGroups are what the sums of a page begin with: the classes up to the last one of each, from the group before on.
var pageGroups = []struct {
	name, about string
	last        class
}{
	{"refused or not read", "to change, or to look at, before a migration", tooLong},
	{"several shards", "asked or changed at once, their answers brought together", merged},
	{"one server", "forwarded as they are, or answered by the proxy", ofSession},
	{"administration", "of servers and accounts: to be judged by hand", administration},
}

// pageReport is what the page shows.
type pageReport struct {
	File, Title string
	Slow        bool
	Unknown     bool // the columns of tables
	Facts       []pageFact
	Groups      []pageSum
	Classes     []pageSum
	All         pageSum
	Said        string // the bar in words
	Digests     []pageDigest
	More        string // of digests that are not listed
	NotShown    string
}

type pageFact struct{ Name, Text string }

// pageSum is a row of the sums, and a part of the bar.
type pageSum struct {
	Class             class
	Name, About       string
	Statements        uint64
	Digests           uint64
	Share             string
	Time, Part, Max   string // of a slow log
	Left, Width, Wide int    // in the bar, which is Wide
}

// pageDigest is an outcome of a digest.
type pageDigest struct {
	Class                      class
	Name, DB, Statement, Share string
	Statements                 uint64
	Time, Max                  string
	Notes                      []string
	Helps, Others              string
	Tables                     string
	Long                       bool // only its beginning is shown until it is opened
	Line                       int
	Steps                      []pageStep
}

// pageStep is what is sent to servers.
type pageStep struct {
	plan.Step
	To string
}

// page prints the report as a page of HTML.
func (rep *logReport) page(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{"grouped": grouped}).Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, rep.pageReport())
}

func (rep *logReport) pageReport() *pageReport {
	file := strings.ToValidUTF8(rep.file, "?")
	out := &pageReport{File: file, Slow: rep.slow, Unknown: rep.columns == "", NotShown: rep.notShown()}
	log := "general log"
	if rep.slow {
		log = "slow log"
	}
	if server := serverName(rep.server); server != "" {
		log += " of " + server
	}
	fact := func(name, text string) {
		if text != "" {
			out.Facts = append(out.Facts, pageFact{name, text})
		}
	}
	fact("Log", log)
	fact("When", rep.span())
	fact("Statements", grouped(rep.statements))
	fact("Digests", grouped(uint64(len(rep.digests))))
	if rep.slow {
		fact("Time of all", seconds(rep.time)+" s")
	}
	fact("Rules", strings.ToValidUTF8(rep.rules, "?"))
	if rep.columns != "" {
		fact("Columns", "from "+rep.columns)
	}
	rep.pageSums(out)
	rest := sum{}
	for c := range classes {
		for _, s := range rep.of(c) {
			if len(out.Digests) < pageDigestsMax {
				out.Digests = append(out.Digests, rep.pageDigest(&s))
			} else {
				rest.statements += s.statements
				rest.digests++
			}
		}
	}
	if rest.digests > 0 {
		out.More = fmt.Sprintf("%s more digests, of %s statements, are not listed here: -json has all.", grouped(rest.digests), grouped(rest.statements))
	}
	return out
}

// pageSums fills in the sums and the bar.
func (rep *logReport) pageSums(out *pageReport) {
	of := func(s *sum) pageSum {
		return pageSum{Statements: s.statements, Digests: s.digests, Share: rep.share(s.statements), Time: seconds(s.time), Part: percent(float64(s.time), float64(rep.time)), Max: seconds(s.max)}
	}
	first := class(0)
	for _, g := range pageGroups {
		var together sum
		for c := first; c <= g.last; c++ {
			together.statements += rep.sums[c].statements
			together.digests += rep.sums[c].digests
		}
		first = g.last + 1
		row := of(&together)
		row.Class, row.Name, row.About = g.last, g.name, g.about
		if together.statements > 0 || g.last == tooLong {
			out.Groups = append(out.Groups, row)
		}
	}
	var said []string
	wide := 0
	for c, s := range rep.sums {
		if s.statements == 0 {
			continue
		}
		row := of(&s)
		row.Class, row.Name, row.About = class(c), classNames[c].name, classNames[c].about
		row.Left, row.Width = wide, max(4, int(1000*s.statements/rep.statements)) // what is little is to be seen, too
		wide += row.Width
		out.Classes = append(out.Classes, row)
		said = append(said, row.Name+" "+row.Share)
	}
	all := rep.all()
	out.All = of(&all)
	out.All.Wide = wide
	out.Said = "Statements by class: " + strings.Join(said, ", ")
}

func (rep *logReport) pageDigest(s *shown) pageDigest {
	d := pageDigest{Class: s.class, Name: classNames[s.class].name, DB: s.digest.db, Statement: s.digest.text, Statements: s.statements, Share: rep.share(s.statements), Time: seconds(s.time), Max: seconds(s.max),
		Helps: s.help, Others: s.others(), Tables: strings.Join(s.tables, ", "), Long: len(s.digest.text) > pageTextLong, Line: s.line}
	for _, note := range []string{s.reason, strings.TrimSpace(s.where)} {
		if note != "" {
			d.Notes = append(d.Notes, note)
		}
	}
	for _, step := range s.steps {
		if step.Reason == s.reason {
			step.Reason = ""
		}
		to := step.Shards
		if len(to) > pageShardsMax {
			to = append(to[:pageShardsMax:pageShardsMax], fmt.Sprintf("and %d more", len(step.Shards)-pageShardsMax))
		}
		d.Steps = append(d.Steps, pageStep{step, strings.Join(to, ", ")})
	}
	return d
}

// grouped is a number with its thousands apart.
func grouped(n uint64) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
