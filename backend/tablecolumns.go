package backend

import (
	"fmt"
	"strings"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// TableColumns asks for the columns of a table, and for those that SELECT * leaves out. With character_set_results NULL on the connection they have the
// columns' own collations.
func TableColumns(c *Conn, db, table string) (columns, invisible []mysql.ColumnDefinition41, err error) {
	from := " FROM " + ident(db) + "." + ident(table) + " LIMIT 0"
	columns, err = c.Columns("SELECT *" + from)
	if err != nil || !c.Info.HidesColumns() {
		return columns, nil, err
	}
	names, err := invisibleColumns(c, db, table)
	if err != nil || len(names) == 0 {
		return columns, nil, err
	}
	for k, name := range names {
		names[k] = ident(name)
	}
	invisible, err = c.Columns("SELECT " + strings.Join(names, ", ") + from)
	return columns, invisible, err
}

// invisibleColumns gives the names of the columns of a table that SELECT * leaves out. MariaDB Knowledge Base: "Invisible Columns",
// "System-Versioned Tables".
func invisibleColumns(c *Conn, db, table string) (names []string, err error) {
	of := fmt.Sprintf(" WHERE TABLE_SCHEMA = CONVERT(X'%x' USING utf8) AND TABLE_NAME = CONVERT(X'%x' USING utf8)", db, table)
	question := "SELECT COLUMN_NAME FROM information_schema.COLUMNS" + of + " AND EXTRA LIKE '%INVISIBLE%'"
	if c.Info.MariaDB {
		// A period of the table's own has columns of its own, which are listed like others; the server's are not listed.
		made := " FROM information_schema.TABLES" + of + " AND TABLE_TYPE = 'SYSTEM VERSIONED' AND NOT EXISTS (SELECT 1 FROM information_schema.COLUMNS" + of +
			" AND GENERATION_EXPRESSION = 'ROW START')"
		question += " UNION ALL SELECT 'row_start'" + made + " UNION ALL SELECT 'row_end'" + made
	}
	err = c.Rows(question, 1, func(row []string) { names = append(names, row[0]) })
	return names, err
}

// Documents gives the names of the columns of a table that MariaDB takes for JSON: texts of which it checks by themselves that they are, with nothing else. Its
// metadata call them texts. MariaDB Knowledge Base: "JSON Data Type", "Information Schema CHECK_CONSTRAINTS Table" (LEVEL since 10.5.10).
func Documents(c *Conn, db, table string) (names []string, err error) {
	if !c.Info.MariaDB || c.Info.Number < 100510 {
		return nil, nil
	}
	question := fmt.Sprintf("SELECT CONSTRAINT_NAME FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = CONVERT(X'%x' USING utf8) AND TABLE_NAME = CONVERT(X'%x' USING utf8)"+
		" AND LEVEL = 'Column' AND CHECK_CLAUSE = CONCAT('json_valid(`', REPLACE(CONSTRAINT_NAME, '`', '``'), '`)')", db, table)
	err = c.Rows(question, 1, func(row []string) { names = append(names, row[0]) })
	return names, err
}

// ident writes a name as an identifier for a connection that is not in a client's character set.
func ident(name string) string {
	text, _ := sqltext.QuoteIdent(name, sqltext.Mode{})
	return text
}
