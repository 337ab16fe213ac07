package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqltext"
)

// levels lists warnings by the first letter of their level with their code.
func levels(list []Warning) string {
	var words []string
	for _, w := range list {
		words = append(words, fmt.Sprintf("%.1s%d", w.Level, w.Code))
	}
	return strings.Join(words, " ")
}

// An error is shown as one, is counted, and goes with the next statement.
func TestSetError(t *testing.T) {
	var d Diagnostics
	d.Add([]Warning{{Level: "Note", Code: 1}})
	d.SetError(&mysql.SQLError{Code: 1064, Message: "m"})
	if levels(d.Warnings) != "E1064" || d.WarningCount != 1 || d.ErrorCount != 1 || d.RowCount != -1 || d.Warnings[0].Message != "m" {
		t.Errorf("%+v", d)
	}
	if d.Clear(); len(d.Warnings) != 0 || d.ErrorCount != 0 || d.WarningCount != 1 {
		t.Errorf("cleared: %+v", d)
	}
	if d.Forget(); d.WarningCount != 0 || d.RowCount != -1 {
		t.Errorf("forgotten: %+v", d)
	}
}

// Warnings are read with the names that the client knows, and no more of them than there is room for.
func TestReadWarnings(t *testing.T) {
	script := mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, _ mysql.Command, _ []byte) {
		c.Columns(mysqltest.Strings("Level", "Code", "Message")...)
		c.Row("Error", 1146, "Table 'p.t_0003' doesn't exist")
		for range WarningsMax + 5 {
			c.Row("Note", 1051, "n")
		}
		c.End()
	}}
	c := dial(t, script)
	list, err := ReadWarnings(c, []mysql.TableName{{FromSchema: "p", FromTable: "t_0003", Schema: "l", Table: "t"}})
	if err != nil || len(list) != WarningsMax || list[0].Message != "Table 'l.t' doesn't exist" || list[0].Level != "Error" || list[1].Code != 1051 {
		t.Fatalf("%d, %v: %+v", len(list), err, list[:min(len(list), 2)])
	}
	var d Diagnostics
	d.Add(list[:3])
	if d.Add(list); len(d.Warnings) != WarningsMax || d.ErrorCount != 2 {
		t.Errorf("%d kept, %d errors", len(d.Warnings), d.ErrorCount)
	}
}

// SHOW WARNINGS and SHOW ERRORS show what they are asked for.
func TestShown(t *testing.T) {
	d := Diagnostics{Warnings: []Warning{{Level: "Note", Code: 1}, {Level: "Error", Code: 2}, {Level: "Warning", Code: 3, Message: "m"}, {Level: "Error", Code: 4}}}
	for text, want := range map[string]string{
		"SHOW WARNINGS": "1 2 3 4", "SHOW ERRORS": "2 4", "SHOW WARNINGS LIMIT 2": "1 2", "SHOW WARNINGS LIMIT 1, 2": "2 3", "SHOW ERRORS LIMIT 1, 5": "4",
		"SHOW WARNINGS LIMIT 9, 1": "", "SHOW WARNINGS LIMIT 0": "",
	} {
		sh, ok := sqltext.ParseShow(text, sqltext.Mode{})
		if !ok {
			t.Fatalf("%s cannot be read", text)
		}
		var codes []string
		for _, row := range d.Shown(sh) {
			codes = append(codes, row[1])
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Warnings of several shards' rows are in the order of the client's, if all tell of a row.
func TestSortByRow(t *testing.T) {
	d := Diagnostics{Warnings: []Warning{{Code: 1, Row: 3}, {Code: 2, Row: 1}, {Code: 3, Row: 3}, {Code: 4, Row: 2}}}
	if d.SortByRow(); !slices.EqualFunc(d.Warnings, []uint16{2, 4, 1, 3}, func(w Warning, code uint16) bool { return w.Code == code }) {
		t.Errorf("%+v", d.Warnings)
	}
	d.Warnings[0].Row, d.Warnings[3].Row = 9, 0
	before := levels(d.Warnings)
	if d.SortByRow(); levels(d.Warnings) != before {
		t.Errorf("%+v", d.Warnings)
	}
}

// A warning about the text is one, however many shards give it; one of a row is each shard's own.
func TestDropRepeated(t *testing.T) {
	add := []Warning{{Code: ERDeprecated}, {Code: 1364}, {Code: 1264}}
	for _, c := range []struct {
		maria   bool
		dropped uint16
		want    string
	}{{false, 2, "W1287 W1364 W1264 W1264"}, {true, 1, "W1287 W1364 W1264 W1364 W1264"}} {
		var d Diagnostics
		for k := range add {
			add[k].Level = "Warning"
		}
		d.Add(add)
		d.Add(add)
		if dropped := d.DropRepeated(len(add), c.maria); dropped != c.dropped || levels(d.Warnings) != c.want {
			t.Errorf("MariaDB %v: %d dropped, %s left", c.maria, dropped, levels(d.Warnings))
		}
	}
}

// A query's warnings about its text and its constants are those of one server, of whatever many pieces it was made.
func TestOnceForAll(t *testing.T) {
	constant := Warning{Level: "W", Code: 1292, Message: "Incorrect INTEGER value: 'x1' for column 'a' at row 1"}
	rows := Warning{Level: "W", Code: 1292, Message: "Truncated incorrect DOUBLE value: 'x1'"}
	for _, c := range []struct {
		text   string
		params bool
		want   string
	}{
		{"SELECT a FROM t WHERE a = 'x1'", false, "W1287 W1052 W1292 W1292 W1292 W1292"}, {"SELECT a FROM t", false, "W1287 W1052 W1292 W1292 W1292 W1292 W1292 W1292"},
		{"SELECT a FROM t WHERE a = ?", true, "W1287 W1052 W1292 W1292 W1292 W1292"},
	} {
		var d Diagnostics
		for range 3 {
			d.Add([]Warning{{Level: "W", Code: ERDeprecated}, {Level: "W", Code: 1052}, constant, rows})
		}
		if d.OnceForAll(3, c.text, c.params); levels(d.Warnings) != c.want {
			t.Errorf("%s: %s, want %s", c.text, levels(d.Warnings), c.want)
		}
	}
}
