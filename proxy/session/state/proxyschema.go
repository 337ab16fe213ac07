package state

import (
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// listsOfSchemas are the tables of information_schema that list schemas, or what the account of clients' statements may call in that of the proxies, with the
// column that names the schema. Tables in it are none that it sees, but that of ids.
var listsOfSchemas = map[string]string{"schemata": "SCHEMA_NAME", "routines": "ROUTINE_SCHEMA", "parameters": "SPECIFIC_SCHEMA"}

// WithoutProxySchema returns the text of a query with the proxies' own schema left out of the tables of information_schema that it reads. db is the current
// database. A text that names columns by such a table is left as it is.
func WithoutProxySchema(text string, m sqltext.Mode, db string) string {
	if !strings.EqualFold(db, "information_schema") && !mentions(text, "information_schema") {
		return text
	}
	listed := false
	for table := range listsOfSchemas {
		listed = listed || mentions(text, table)
	}
	if !listed {
		return text
	}
	replaced := replaceTables(text, m, db, func(schema, table string) string {
		column := listsOfSchemas[table]
		if schema != "information_schema" || column == "" || qualifies(text, m, table) {
			return ""
		}
		return "(SELECT * FROM information_schema." + strings.ToUpper(table) + " WHERE " + column + " <> '" + sqltext.ProxySchema + "')"
	})
	return replaced
}

// qualifies reports whether a text has a name with a dot behind it: a derived table has no schema, and is named by the letters that it is written in.
func qualifies(text string, m sqltext.Mode, name string) bool {
	l := sqltext.NewLexer(text, m)
	last := false
	for t := l.Next(); t.Kind != sqltext.KindEOF; t = l.Next() {
		word := text[t.Pos:t.End]
		if last && word == "." {
			return true
		}
		last = (t.Kind == sqltext.KindWord || t.Kind == sqltext.KindQuotedIdent) && strings.EqualFold(sqltext.UnquoteIdent(word, m), name)
	}
	return false
}

// SchemaRows leaves the rows out whose first column names the proxies' own schema. It is a mysql.RowChanger.
type SchemaRows struct {
	// Binary says that rows are those of a prepared statement.
	Binary  bool
	columns int
}

// Column is for mysql.RowChanger.
func (r *SchemaRows) Column(*mysql.ColumnDefinition41) { r.columns++ }

// Row is for mysql.RowChanger.
func (r *SchemaRows) Row(b, row []byte) ([]byte, error) {
	c := mysql.NewCursor(row)
	if r.Binary {
		c.Bytes(1 + (r.columns+7+2)/8) // the header, and which are NULL: not the first
	}
	name := c.LenencBytes()
	if c.Err() != nil {
		return nil, c.Err()
	}
	if sqltext.IsProxySchema(string(name)) {
		return b, nil
	}
	return append(b, row...), nil
}

// ListsSchemas reports whether a SHOW is SHOW DATABASES or SHOW PROCEDURE STATUS, which list the proxies' own schema, or what is in it.
func ListsSchemas(text string, m sqltext.Mode) bool {
	l := sqltext.NewLexer(text, m)
	l.Next()
	t := l.Next()
	switch strings.ToLower(text[t.Pos:t.End]) {
	case "databases", "schemas":
		return true
	case "procedure":
		t = l.Next()
		return strings.EqualFold(text[t.Pos:t.End], "status")
	}
	return false
}
