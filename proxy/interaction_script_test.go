package proxy_test

import (
	"fmt"
	"slices"
	"strings"
)

// paragraph is a part of a script between empty lines: comments, then a directive with the lines that belong to it, then what it prints.
//
//	# a comment
//	directive
//	a line of its own
//	----
//	what it prints
//
// Where the drivers print different things there is a part for each, and one of the lines of its own says why that is right:
//
//	directive
//	differs: why
//	---- goroutines
//	what it prints there
//	---- fast lane
//	what it prints there
type paragraph struct {
	line      int      // of the directive in the file
	head      []string // all lines ahead of what it prints, as they are
	directive string   // "" of comments alone
	body      []string
	differs   string
	prints    map[string][]string // by driver
}

// separator is between a directive and what it prints.
const separator = "----"

// parseScript reads a script for those drivers.
func parseScript(text string, drivers []string) (list []*paragraph, err error) {
	var p *paragraph
	var part []string // the drivers whose output is being read
	for k, line := range strings.Split(text, "\n") {
		switch name, output := strings.CutPrefix(line, separator); {
		case line == "":
			p, part = nil, nil
			continue
		case p == nil:
			p = &paragraph{prints: map[string][]string{}}
			list = append(list, p)
			fallthrough
		default:
			if output {
				if part = drivers; name != "" {
					part = []string{strings.TrimSpace(name)}
				}
				for _, d := range part {
					if !slices.Contains(drivers, d) {
						return nil, fmt.Errorf("line %d: no driver is called %q", k+1, d)
					}
					p.prints[d] = []string{}
				}
				continue
			}
		}
		switch why, differs := strings.CutPrefix(line, "differs: "); {
		case part != nil:
			for _, d := range part {
				p.prints[d] = append(p.prints[d], line)
			}
			continue
		case strings.HasPrefix(line, "#"):
		case p.directive == "":
			p.directive, p.line = line, k+1
		case differs:
			p.differs = why
		default:
			p.body = append(p.body, line)
		}
		p.head = append(p.head, line)
	}
	return list, nil
}

// formatScript writes a script with what its paragraphs print.
func formatScript(list []*paragraph, drivers []string) string {
	var b strings.Builder
	for k, p := range list {
		if k > 0 {
			b.WriteByte('\n')
		}
		lines := func(list []string) {
			for _, line := range list {
				b.WriteString(line + "\n")
			}
		}
		lines(p.head)
		switch same, any := p.same(drivers); {
		case !any:
		case same:
			b.WriteString(separator + "\n")
			lines(p.prints[drivers[0]])
		default:
			for _, d := range drivers {
				b.WriteString(separator + " " + d + "\n")
				lines(p.prints[d])
			}
		}
	}
	return b.String()
}

// same reports whether it prints the same on all drivers, and whether it prints anything on one.
func (p *paragraph) same(drivers []string) (same, any bool) {
	same = true
	for _, d := range drivers {
		same = same && slices.Equal(p.prints[d], p.prints[drivers[0]])
		any = any || p.prints[d] != nil
	}
	return same, any
}

// words splits a line at its spaces. What is in double quotes is one word, or the rest of one, and read as Go's; quoted tells of each word
// whether some of it was.
func words(line string) (list []string, quoted []bool, err error) {
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		end := strings.IndexAny(line, ` "`)
		if end < 0 {
			end = len(line)
		}
		word, q := line[:end], false
		if line = line[end:]; strings.HasPrefix(line, `"`) {
			text, rest, err := unquotePrefix(line)
			if err != nil {
				return nil, nil, err
			}
			word, line, q = word+text, rest, true
		}
		list, quoted = append(list, word), append(quoted, q)
	}
	return list, quoted, nil
}
