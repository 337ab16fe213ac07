package demo

import (
	"database/sql"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// session is a statement of the README with its answer, as the mariadb command line shows it.
type session struct{ text, answer string }

// readme reads the session that README.md shows.
func readme(t *testing.T) []session {
	t.Helper()
	data, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const prompt = "MariaDB [shop]> "
	var found []session
	for line := range strings.Lines(string(data)) {
		line = strings.TrimPrefix(line, "    ")
		if text, ok := strings.CutPrefix(line, prompt); ok {
			found = append(found, session{text: strings.TrimSuffix(text, ";\n")})
		} else if len(found) > 0 && (line[0] == '+' || line[0] == '|') {
			found[len(found)-1].answer += line
		}
	}
	if len(found) < 2 {
		t.Fatalf("README.md shows %d statements after %q", len(found), prompt)
	}
	return found
}

// answer runs a statement and draws its rows as the mariadb command line does; "" of one that has none.
func answer(t *testing.T, db *sql.DB, text string) string {
	t.Helper()
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	if len(types) == 0 {
		return ""
	}
	right := make([]bool, len(types))
	table := [][]string{make([]string, len(types))}
	for k, c := range types {
		table[0][k] = c.Name()
		right[k] = strings.Contains(c.DatabaseTypeName(), "INT") || c.DatabaseTypeName() == "DECIMAL"
	}
	for rows.Next() {
		cells := make([]sql.NullString, len(types))
		into := make([]any, len(types))
		for k := range cells {
			into[k] = &cells[k]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		line := make([]string, len(types))
		for k, c := range cells {
			if line[k] = c.String; !c.Valid {
				line[k] = "NULL"
			}
		}
		table = append(table, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return draw(table, right)
}

// draw makes a box of lines, the first of which are the columns' names; right says which columns are numbers.
func draw(table [][]string, right []bool) string {
	widths := make([]int, len(right))
	for _, line := range table {
		for k, cell := range line {
			widths[k] = max(widths[k], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	rule := func() {
		for _, w := range widths {
			b.WriteString("+" + strings.Repeat("-", w+2))
		}
		b.WriteString("+\n")
	}
	rule()
	for n, line := range table {
		for k, cell := range line {
			space := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell))
			if n > 0 && right[k] {
				b.WriteString("| " + space + cell + " ")
			} else {
				b.WriteString("| " + cell + space + " ")
			}
		}
		b.WriteString("|\n")
		if n == 0 {
			rule()
		}
	}
	rule()
	return b.String()
}

// column gives the first column of a query's rows.
func column(t *testing.T, db *sql.DB, text string) (cells []string) {
	t.Helper()
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	for rows.Next() {
		var cell string
		if err := rows.Scan(&cell); err != nil {
			t.Fatal(err)
		}
		cells = append(cells, cell)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return cells
}
