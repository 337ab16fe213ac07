package remote

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// formats are how results may be printed.
var formats = map[string]func(w io.Writer, r *result) error{"table": printTable, "tsv": printTSV, "json": printJSON}

// visible makes a text safe to print: statements and names come from clients, and what a terminal would obey is shown instead.
func visible(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x80:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// cellText is a cell of a table.
func cellText(c sql.NullString) string {
	if !c.Valid {
		return "NULL"
	}
	return visible(c.String)
}

// printTable draws a box as the mysql client does.
func printTable(w io.Writer, r *result) error {
	if len(r.rows) == 0 {
		_, err := fmt.Fprintln(w, "Empty set")
		return err
	}
	widths := make([]int, len(r.columns))
	for k, name := range r.columns {
		widths[k] = utf8.RuneCountInString(name)
		for _, row := range r.rows {
			widths[k] = max(widths[k], utf8.RuneCountInString(cellText(row[k])))
		}
	}
	var line strings.Builder
	for _, n := range widths {
		line.WriteString("+" + strings.Repeat("-", n+2))
	}
	line.WriteString("+\n")
	var b strings.Builder
	add := func(k int, text string, right bool) {
		pad := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(text))
		if right {
			text = pad + text
		} else {
			text += pad
		}
		b.WriteString("| " + text + " ")
	}
	b.WriteString(line.String())
	for k, name := range r.columns {
		add(k, name, false)
	}
	b.WriteString("|\n" + line.String())
	for _, row := range r.rows {
		for k, cell := range row {
			add(k, cellText(cell), r.numeric[k])
		}
		b.WriteString("|\n")
	}
	b.WriteString(line.String())
	_, err := io.WriteString(w, b.String())
	return err
}

// escapes of the tab-separated form are those of the mysql client.
var escapes = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\x00", `\0`)

// printTSV writes a line of names, then a line for each row; NULL is \N.
func printTSV(w io.Writer, r *result) error {
	lines := []string{strings.Join(r.columns, "\t")}
	for _, row := range r.rows {
		cells := make([]string, len(row))
		for k, cell := range row {
			cells[k] = `\N`
			if cell.Valid {
				cells[k] = escapes.Replace(cell.String)
			}
		}
		lines = append(lines, strings.Join(cells, "\t"))
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// printJSON writes an array with an object for each row, its members in the order of the columns, as the rows of REST.
func printJSON(w io.Writer, r *result) error {
	var b bytes.Buffer
	b.WriteByte('[')
	for n, row := range r.rows {
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  {")
		for k, cell := range row {
			if k > 0 {
				b.WriteString(", ")
			}
			appendJSON(&b, r.columns[k])
			b.WriteString(": ")
			switch {
			case !cell.Valid:
				b.WriteString("null")
			case r.yesNo[k] && (cell.String == "YES" || cell.String == "NO"):
				b.WriteString(strconv.FormatBool(cell.String == "YES"))
			case r.numeric[k] && json.Valid([]byte(cell.String)):
				b.WriteString(cell.String)
			default:
				appendJSON(&b, cell.String)
			}
		}
		b.WriteByte('}')
	}
	if len(r.rows) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	_, err := w.Write(b.Bytes())
	return err
}

func appendJSON(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text can be encoded, whatever it is
	b.Truncate(b.Len() - 1)
}
