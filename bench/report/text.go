package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Line is a sample in one line, for somebody who watches.
func Line(s Sample) string {
	head := fmt.Sprintf("%-30s %-22s round %d:", s.Name(), s.Contender, s.Round)
	if s.Metrics == nil {
		return head + " failed: " + s.Failure
	}
	var b strings.Builder
	b.WriteString(head)
	for _, c := range columns {
		switch c.metric {
		case QPS, P99, ProxyCPU, PerClient, HighestRate:
			if text := figure(s.Metrics, c.metric, c.digits); text != "" {
				fmt.Fprintf(&b, " %s %s,", text, c.title)
			}
		}
	}
	if s.Errors > 0 {
		fmt.Fprintf(&b, " %d errors (%s),", s.Errors, s.Failure)
	}
	return strings.TrimRight(b.String(), ",")
}

// Text is a run as text: a table for each family, one that compares two builds, and one of the checks.
func Text(r *Run) string {
	var b strings.Builder
	for _, family := range families(r.rows(nil)) {
		fmt.Fprintf(&b, "\n%s\n", family[0].family)
		align(&b, table(family))
	}
	if lines := ratioTable(r); lines != nil {
		b.WriteString("\nTwo builds\n")
		align(&b, lines)
	}
	if len(r.Checks) > 0 {
		b.WriteString("\nPromises\n")
		align(&b, checkTable(r.Checks))
	}
	return b.String()
}

// align writes lines with columns of equal width.
func align(b *strings.Builder, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		text := ""
		for i, cell := range line {
			text += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}
