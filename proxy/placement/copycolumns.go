package placement

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"kingshard/router"
)

// copyColumn is a column of a reference table.
type copyColumn struct {
	name, kind, charset string
	generated           bool
	key                 int // its place in the primary key, from 1; 0: none
}

// copyTable is what a copy is made of, as its server says.
type copyTable struct {
	columns []copyColumn
	// prefixed says that the primary key is of beginnings of values.
	prefixed bool
}

// copyOf asks for the columns of a copy, those left out that have nothing of their own.
func (a *asking) copyOf(s router.Shard) (*copyTable, error) {
	t := &copyTable{}
	where := "table_schema = " + literal(s.DB) + " AND table_name = " + literal(s.Table)
	err := a.rows("SELECT column_name, data_type, IFNULL(character_set_name, ''), extra, IFNULL(generation_expression, '') FROM information_schema.columns WHERE "+where+
		" ORDER BY ordinal_position", 5, func(row []string) {
		c := copyColumn{name: row[0], kind: strings.ToLower(row[1]), charset: row[2], generated: strings.Contains(strings.ToUpper(row[3]), "GENERATED") && !strings.Contains(strings.ToUpper(row[3]), "DEFAULT_GENERATED")}
		virtual := strings.Contains(strings.ToUpper(row[3]), "VIRTUAL")
		period := row[4] == "ROW START" || row[4] == "ROW END" // when a version of the row was made, by the clock of its server
		if !virtual && !period {
			t.columns = append(t.columns, c)
		}
	})
	if err != nil {
		return nil, err
	}
	err = a.rows("SELECT column_name, seq_in_index, IFNULL(sub_part, 0) FROM information_schema.statistics WHERE "+where+" AND index_name = 'PRIMARY'", 3, func(row []string) {
		for k := range t.columns {
			if c := &t.columns[k]; c.name == row[0] {
				_, _ = fmt.Sscan(row[1], &c.key)
			}
		}
		t.prefixed = t.prefixed || row[2] != "0"
	})
	return t, err
}

// keys are the columns of the primary key, in its order; nil where there is none, or one whose order comparisons do not follow.
func (t *copyTable) keys() (keys []copyColumn) {
	for _, c := range t.columns {
		if c.key > 0 {
			keys = append(keys, c)
		}
	}
	slices.SortFunc(keys, func(a, b copyColumn) int { return a.key - b.key })
	if slices.ContainsFunc(keys, func(c copyColumn) bool { return c.kind == "enum" || c.kind == "set" }) {
		return nil
	}
	return keys
}

// same reports whether two copies have the same columns, as far as rows are compared by them.
func (t *copyTable) same(other *copyTable) bool {
	return slices.EqualFunc(t.columns, other.columns, func(a, b copyColumn) bool {
		return strings.EqualFold(a.name, b.name) && a.kind == b.kind && a.key == b.key && a.generated == b.generated
	})
}

// written is an expression for the value of a column as a text, by which it can be written again: see literal. It says all of the value, whatever the server.
func (c copyColumn) written() string {
	name := quote(c.name)
	switch c.kind {
	case "float", "double":
		return "CAST(" + name + " + 0E0 AS CHAR)" // a FLOAT by itself is shown with six digits
	case "bit":
		return "CAST(CAST(" + name + " AS UNSIGNED) AS CHAR)"
	case "enum", "set":
		return "CAST(" + name + " + 0 AS CHAR)"
	case "json":
		return "HEX(CAST(" + name + " AS CHAR CHARACTER SET utf8mb4))"
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year", "date", "time", "datetime", "timestamp", "uuid", "inet4", "inet6":
		return "CAST(" + name + " AS CHAR)"
	}
	return "HEX(" + name + ")"
}

// literal writes what [copyColumn.written] gave.
func (c copyColumn) literal(text string) string {
	switch c.kind {
	case "float", "double", "bit", "enum", "set", "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year":
		return text
	case "date", "time", "datetime", "timestamp", "uuid", "inet4", "inet6":
		return "'" + text + "'"
	case "json":
		return "CAST(_utf8mb4 X'" + text + "' AS JSON)"
	}
	if c.charset != "" {
		return "_" + c.charset + " X'" + text + "'" // which takes a column's collation in comparisons
	}
	return "X'" + text + "'"
}

// digest is an expression for the value as a part of a row's checksum. A text is its characters, whatever the column's character set, and what may be long is a
// checksum by itself: a row is longer than a server's max_allowed_packet sooner than a value.
func (c copyColumn) digest() string {
	name := quote(c.name)
	switch c.kind {
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		return "SHA2(CONVERT(" + name + " USING utf8mb4), 256)"
	case "enum", "set":
		return "SHA2(CONCAT(" + name + " + 0, '/', CONVERT(" + name + " USING utf8mb4)), 256)"
	case "json":
		return "SHA2(CAST(" + name + " AS CHAR CHARACTER SET utf8mb4), 256)"
	case "float", "double", "bit", "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year", "date", "time", "datetime", "timestamp", "uuid", "inet4", "inet6":
		return c.written()
	}
	return "SHA2(HEX(" + name + "), 256)"
}

// row is an expression for the checksum of a row.
func (t *copyTable) row() string {
	var parts []string
	for _, c := range t.columns {
		parts = append(parts, "IFNULL("+c.digest()+", '-')")
	}
	return "SHA2(CONCAT_WS(',', " + strings.Join(parts, ", ") + "), 256)"
}

// sums are expressions for the number of rows and what is the same of the same rows, in whatever order: 128 bits that rows change by themselves, and a sum, to which two
// equal rows, of a table without a primary key, add as well. The last one counts rows without a checksum, as of values that are too long.
func (t *copyTable) sums() string {
	row := t.row()
	half := func(from int) string {
		return fmt.Sprintf("LPAD(HEX(BIT_XOR(CAST(CONV(SUBSTRING(ks_row, %d, 16), 16, 10) AS UNSIGNED))), 16, '0')", from)
	}
	return "COUNT(*), CONCAT(" + half(1) + ", " + half(17) + "), IFNULL(SUM(CRC32(ks_row)), 0), IFNULL(SUM(ks_row IS NULL), 0) FROM (SELECT " + row + " AS ks_row FROM "
}

// names lists columns, quoted.
func names(columns []copyColumn) string {
	list := make([]string, len(columns))
	for k, c := range columns {
		list[k] = quote(c.name)
	}
	return strings.Join(list, ", ")
}

// written lists what [copyColumn.written] is of each.
func written(columns []copyColumn) string {
	list := make([]string, len(columns))
	for k, c := range columns {
		list[k] = c.written()
	}
	return strings.Join(list, ", ")
}

// key is the primary key of a row, as texts of [copyColumn.written].
type key []string

// after is the condition of rows that come behind a key in the order of the primary key.
func after(columns []copyColumn, k key) string { return beside(columns, k, ">", false) }

// upTo is the condition of rows up to a key.
func upTo(columns []copyColumn, k key) string { return beside(columns, k, "<", true) }

func beside(columns []copyColumn, k key, op string, or bool) string {
	c, v := quote(columns[0].name), columns[0].literal(k[0])
	if len(columns) == 1 {
		if or {
			op += "="
		}
		return c + " " + op + " " + v
	}
	// The first comparison lets servers find the range in the index.
	return "(" + c + " " + op + "= " + v + " AND (" + c + " " + op + " " + v + " OR " + beside(columns[1:], k[1:], op, or) + "))"
}

// at is the condition of the row with a key.
func at(columns []copyColumn, k key) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = quote(c.name) + " = " + c.literal(k[i])
	}
	return "(" + strings.Join(list, " AND ") + ")"
}

// shown is the key as people read it.
func shown(columns []copyColumn, k key) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = k[i]
		if c.literal("") == "" || strings.HasPrefix(c.literal(""), "'") {
			continue
		}
		if raw, err := hex.DecodeString(k[i]); err == nil {
			list[i] = fmt.Sprintf("%q", raw[:min(len(raw), keyBytesMax)])
		}
	}
	return strings.Join(list, ", ")
}
