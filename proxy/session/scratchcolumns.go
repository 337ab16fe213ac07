package session

import (
	"fmt"
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
	"kingshard/router/plan"
)

// documents are the columns of a scratch table that MariaDB takes for JSON in the table itself: its functions write those into JSON as they are, and other texts in quotes.
func (f *finishing) documents(scratch *plan.Scratch) []string {
	if !f.plan.Mode.MariaDB || scratch.Like != nil {
		return nil
	}
	names := slices.Clone(f.s.client.schema.Plans.described(scratch.Ref.Table).documents)
	return slices.DeleteFunc(names, func(name string) bool {
		return len(scratch.Columns) > 0 && !slices.Contains(scratch.Columns, name)
	})
}

// complete gives columns of an empty scratch table what CREATE TABLE ... SELECT leaves out: some are invisible, so that a star and NATURAL JOIN mean there what they mean to the table
// itself, and some are JSON to MariaDB. MySQL knows columns by their names; MariaDB has their whole definitions be said again, which it shows. MySQL manual: "Invisible Columns". MariaDB
// Knowledge Base: "Invisible Columns", "JSON Data Type".
func (f *finishing) complete(table string, invisible, documents []string) error {
	columns := slices.Clone(invisible)
	for _, name := range documents {
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	if len(columns) == 0 {
		return nil
	}
	// What was taken for a default when the table was made is one again, in whatever characters.
	return inOneMode(f.s.shards, f.last.Pooled, func() error {
		var shown string
		if f.plan.Mode.MariaDB {
			if err := f.last.Conn.Rows("SHOW CREATE TABLE "+table, 2, func(row []string) { shown = row[1] }); err != nil {
				return err
			}
		}
		var list []string
		for _, column := range columns {
			name, _ := sqltext.QuoteIdent(column, sqltext.Mode{}) // the connection is in no client's character set
			if !f.plan.Mode.MariaDB {
				list = append(list, "ALTER COLUMN "+name+" SET INVISIBLE")
				continue
			}
			definition, ok := columnShown(shown, name)
			if !ok {
				return fmt.Errorf("SHOW CREATE TABLE of a scratch table does not show its column %s", name)
			}
			if slices.Contains(invisible, column) {
				if strings.Contains(definition, " NOT NULL") && !strings.Contains(definition, " DEFAULT ") {
					definition += " DEFAULT 0" // of row_start and its like, which the server fills by itself where they are its own
				}
				definition += " INVISIBLE"
			}
			if slices.Contains(documents, column) {
				definition += " CHECK (json_valid(" + name + "))"
			}
			list = append(list, "MODIFY "+definition)
		}
		return f.exec("ALTER TABLE " + table + " " + strings.Join(list, ", "))
	})
}

// columnShown finds the definition of a column, by its quoted name, in what SHOW CREATE TABLE shows: each column has a line.
func columnShown(table, name string) (definition string, ok bool) {
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, name+" ") {
			return strings.TrimSuffix(line, ","), true
		}
	}
	return "", false
}
