package remote

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// view is what the lower part of a frame lists.
type view byte

// The views, by their keys.
const (
	viewDigests  view = 'd'
	viewNodes    view = 'n'
	viewSessions view = 's'
)

// frame is what a screen of that size shows, a line for each row, none longer than width.
func frame(s *sample, b between, v view, width, height int) []string {
	lines := []string{
		fmt.Sprintf("kingshard %s, up %s, %s sessions, configuration %s", s.status["State"],
			(time.Duration(number(s.status["Uptime"])) * time.Second).String(), s.status["Sessions"], s.status["Config_generation"]),
		fmt.Sprintf("%s queries/s, mean %s ms; %s commands/s; %s rows/s, %s/s", figure(b.queries), milliseconds(b.mean), figure(b.commands), figure(b.rows), size(b.bytes)),
		fmt.Sprintf("errors/s: %s client, %s proxy, %s backend; instances: %s up, %s down", figure(b.errors[0]), figure(b.errors[1]), figure(b.errors[2]),
			s.status["Instances_in_use"], s.status["Instances_down"]),
		"",
	}
	var table [][]string
	switch v {
	case viewNodes:
		table = nodeRows(s, b)
	case viewSessions:
		table = sessionRows(s)
	default:
		table = digestRows(b)
	}
	lines = append(lines, aligned(table)...)
	lines = lines[:min(len(lines), max(height-1, 0))]
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	lines = append(lines, "keys: d digests, n nodes, s sessions, q quit")
	for k := range lines {
		lines[k] = cut(lines[k], width)
	}
	return lines
}

// digestRows lists statements by the time that they took.
func digestRows(b between) [][]string {
	rows := [][]string{{"time%", "count/s", "mean ms", "p95 ms", "errors", "plan", "user", "db", "statement"}}
	list := slices.SortedFunc(slices.Values(b.digests), func(x, y digest) int { return cmp.Compare(y.total, x.total) })
	var all float64
	for _, d := range list {
		all += d.total
	}
	for _, d := range list {
		statement := d.statement
		if statement == "" {
			statement = "(all that have no row of their own)"
		}
		rows = append(rows, []string{
			strconv.FormatFloat(100*d.total/max(all, 0.001), 'f', 1, 64), figure(d.count / b.seconds), milliseconds(d.total / d.count), milliseconds(d.p95),
			figure(d.errors), d.plan, visible(d.user), visible(d.db), visible(statement),
		})
	}
	return rows
}

// nodeRows lists instances with what they did and their pools.
func nodeRows(s *sample, b between) [][]string {
	rows := [][]string{{"node", "instance", "role", "state", "stmts/s", "mean ms", "errors/s", "bytes/s", "in use", "max", "open", "waiting", "timeouts", "version"}}
	for k, n := range s.nodes {
		if k >= len(s.pools) || s.pools[k]["instance"] != n["instance"] {
			continue // a reload between the two statements
		}
		p, state := s.pools[k], n["state"]
		if n["held_down"] == "YES" {
			state += " (held)"
		}
		l := b.nodes[k]
		rows = append(rows, []string{
			visible(n["node"]), visible(n["instance"]), n["role"], state, figure(l.statements), milliseconds(l.mean), figure(l.errors), size(l.bytes),
			p["in_use"], p["max"], p["open"], p["waiting"], p["timed_out"], visible(n["version"]),
		})
	}
	return rows
}

// sessionRows lists clients: those in a transaction first, then by how long they are in their command.
func sessionRows(s *sample) [][]string {
	rows := [][]string{{"id", "seconds", "age", "command", "transaction", "pins", "user", "db", "host", "instance"}}
	for _, c := range s.sessions {
		rows = append(rows, []string{
			c["id"], c["seconds"], c["age"], visible(c["command"]), strings.ToLower(c["in_transaction"]), c["pins"], visible(c["user"]), visible(c["db"]), visible(c["host"]), visible(c["instance"]),
		})
	}
	return rows
}

// aligned brings the columns of a table below each other; those whose first row is a figure stand to the right.
func aligned(table [][]string) []string {
	widths := make([]int, len(table[0]))
	right := make([]bool, len(widths))
	for n, row := range table {
		for k, cell := range row {
			widths[k] = max(widths[k], utf8.RuneCountInString(cell))
			if n == 1 {
				_, err := strconv.ParseFloat(strings.TrimRight(cell, "kMG"), 64)
				right[k] = err == nil
			}
		}
	}
	var lines []string
	for _, row := range table {
		var b strings.Builder
		for k, cell := range row {
			pad := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell))
			switch {
			case right[k]:
				cell = pad + cell
			case k < len(row)-1:
				cell += pad
			}
			if k > 0 {
				b.WriteString("  ")
			}
			b.WriteString(cell)
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// cut shortens a line to so many characters.
func cut(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	runes := []rune(line)
	return string(runes[:max(width, 0)])
}

// figure is a number in at most six characters.
func figure(n float64) string {
	switch {
	case n >= 1e7:
		return strconv.FormatFloat(n/1e6, 'f', 0, 64) + "M"
	case n >= 1e4:
		return strconv.FormatFloat(n/1e3, 'f', 1, 64) + "k"
	case n >= 100 || n == float64(int(n)):
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	return strconv.FormatFloat(n, 'f', 1, 64)
}

func milliseconds(n float64) string { return strconv.FormatFloat(n, 'f', 2, 64) }

// size is a number of bytes.
func size(n float64) string {
	for _, unit := range []string{"B", "KB", "MB"} {
		if n < 1024 {
			return strconv.FormatFloat(n, 'f', 0, 64) + " " + unit
		}
		n /= 1024
	}
	return strconv.FormatFloat(n, 'f', 1, 64) + " GB"
}
