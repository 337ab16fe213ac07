package differential

import (
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// result is a result with one column for each name; "d…" is a DOUBLE, all others are texts.
func result(names string, rows ...string) *mysqltest.RawResult {
	r := new(mysqltest.RawResult)
	for _, name := range strings.Fields(names) {
		c := mysql.ColumnDefinition41{Name: name, Charset: 45, Type: mysql.TypeVarString}
		if name[0] == 'd' {
			c.Charset, c.Type = binaryCharset, mysql.TypeDouble
		}
		r.Columns = append(r.Columns, c)
	}
	for _, row := range rows {
		var values []any
		for _, v := range strings.Split(row, "|") {
			values = append(values, v)
		}
		r.Rows = append(r.Rows, values)
	}
	return r
}

func TestCompareRows(t *testing.T) {
	here := func() *part { return words("x") }
	ordered := statement{order: here(), total: here()}
	cut := statement{order: here(), limit: here(), keys: []string{"k"}}
	for _, test := range []struct {
		name            string
		statement       statement
		columns         string
		oracle, subject []string
		want            string // kind of the difference
	}{
		{"any order", statement{}, "x", []string{"1", "2"}, []string{"2", "1"}, ""},
		{"one twice", statement{}, "x", []string{"1", "2", "2"}, []string{"2", "1", "1"}, "rows"},
		{"fixed order", ordered, "x", []string{"1", "2"}, []string{"2", "1"}, "order"},
		{"other rows in fixed order", ordered, "x", []string{"1", "2"}, []string{"1", "3"}, "rows"},
		{"too few", statement{}, "x", []string{"1", "2"}, []string{"2"}, "rows"},
		{"any of the rows", cut, "k x", []string{"1|a", "1|b"}, []string{"1|c", "1|a"}, ""},
		{"any of the rows, but not of those", cut, "k x", []string{"1|a", "1|b"}, []string{"1|c", "2|a"}, "order"},
		{"spelling", statement{}, "x", []string{"a"}, []string{"A "}, "rows"},
		{"spelling of a group", statement{folds: true}, "x", []string{"a", "ss"}, []string{"ß ", "Á"}, ""},
		{"another group", statement{folds: true}, "x", []string{"a"}, []string{"b"}, "rows"},
		{"list in any order", statement{}, "bag1", []string{"a,b,a"}, []string{"b,a,a"}, ""},
		{"list of others", statement{}, "bag1", []string{"a,b,a"}, []string{"b,a,b"}, "rows"},
		{"array in any order", statement{}, "bag1", []string{"[1, null, 2]"}, []string{"[2,1,null]"}, ""},
		{"list in order", statement{}, "x", []string{"a,b"}, []string{"b,a"}, "rows"},
		{"last digits", statement{inexact: true}, "d", []string{"0.30000000000000004", "1e-17"}, []string{"0.3", "0"}, ""},
		{"last digits between two of nine", statement{inexact: true}, "d", []string{"23.605468750000004"}, []string{"23.605468749999996"}, ""},
		{"other digits", statement{inexact: true}, "d", []string{"0.3"}, []string{"0.3001"}, "rows"},
		{"exact digits", statement{}, "d", []string{"0.30000000000000004"}, []string{"0.3"}, "rows"},
	} {
		d := compareRows(&test.statement, result(test.columns, test.oracle...), result(test.columns, test.subject...))
		got := ""
		if d != nil {
			got = d.Kind
		}
		if got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
	}
}

// TestAmongOpen wants rows that another plan shows in no order, in the order that the values which it shows alike have.
func TestAmongOpen(t *testing.T) {
	want := result("k x", "1|0.3333", "2|0.6667", "2|0.5")
	open := result("k x", "3|9", "2|0.5", "2|0.6666666", "1|0.3333333")
	for _, test := range []struct {
		rows []string
		same bool
	}{
		{[]string{"1|0.3333333", "2|0.6666666", "2|0.5"}, true},
		{[]string{"1|0.3333333", "2|0.5", "2|0.6666666"}, true}, // nothing tells which of the two is first
		{[]string{"2|0.6666666", "1|0.3333333", "2|0.5"}, false},
		{[]string{"1|0.3333333", "2|0.6667", "2|0.5"}, false},
		{[]string{"1|0.3333333", "2|0.5", "2|0.5"}, false},
		{[]string{"1|0.3333333", "2|0.6666666"}, false},
	} {
		if got := new(statement).amongOpen(want, open, result("k x", test.rows...)); got != test.same {
			t.Errorf("%q: %v", test.rows, got)
		}
	}
}

func TestCompareErrors(t *testing.T) {
	e := func(code uint16, state, message string) *mysql.SQLError {
		return &mysql.SQLError{Code: code, State: state, Message: message}
	}
	duplicate := e(1062, "23000", "Duplicate entry '5' for key 'h1.PRIMARY'")
	for _, test := range []struct {
		oracle, subject *mysql.SQLError
		want            string
	}{
		{nil, nil, ""},
		{duplicate, e(1062, "23000", "Duplicate entry '7' for key 'h1.PRIMARY'"), ""},
		{duplicate, e(1062, "23000", "Duplicate entry 'o'clock' for key 'h1.PRIMARY'"), ""},
		{duplicate, e(1062, "23000", "Duplicate entry '7' for key 'h1_0001.PRIMARY'"), "error message"},
		{duplicate, e(1062, "23000", "Duplicate key"), "error message"},
		{duplicate, e(1062, "HY000", duplicate.Message), "error 1062/1062"},
		{nil, duplicate, "error 0/1062"},
		{duplicate, nil, "error 1062/0"},
	} {
		d := compareErrors(test.oracle, test.subject)
		if d == nil {
			d = new(Difference)
		}
		if d.Kind != test.want {
			t.Errorf("%v and %v: %q, not %q", test.oracle, test.subject, d.Kind, test.want)
		}
	}
}

func TestCompareColumns(t *testing.T) {
	want := mysql.ColumnDefinition41{Schema: "d0", Table: "t", OrgTable: "h1", Name: "a", OrgName: "a", Type: mysql.TypeLong, Flags: 2 | 16384}
	same := func(db string) string { return db }
	for _, test := range []struct {
		change func(*mysql.ColumnDefinition41)
		want   string // kind of the difference
	}{
		{func(*mysql.ColumnDefinition41) {}, ""},
		{func(c *mysql.ColumnDefinition41) { c.Length++ }, "metadata: length"},
		{func(c *mysql.ColumnDefinition41) { c.Flags = 1 }, "metadata: flags"},
		{func(c *mysql.ColumnDefinition41) { c.OrgTable = "h1_0001" }, "metadata: original table"},
		{func(c *mysql.ColumnDefinition41) { c.OrgTable, c.OrgName, c.Schema = "", "", "" }, "metadata: original name"},
	} {
		got := want
		test.change(&got)
		d := new(statement).compareColumns("metadata", []mysql.ColumnDefinition41{want}, []mysql.ColumnDefinition41{got}, same)
		if d == nil {
			d = new(Difference)
		}
		if d.Kind != test.want {
			t.Errorf("%+v: %q, not %q", got, d.Kind, test.want)
		}
	}
	expression := mysql.ColumnDefinition41{Name: "n", Type: mysql.TypeLongLong}
	named, other := expression, expression
	named.OrgName, other.OrgName = "n", "m"
	for _, test := range []struct {
		got  mysql.ColumnDefinition41
		same bool
	}{{named, true}, {other, false}} {
		if d := new(statement).compareColumns("metadata", []mysql.ColumnDefinition41{expression}, []mysql.ColumnDefinition41{test.got}, same); (d == nil) != test.same {
			t.Errorf("an expression with the original name %q: %v", test.got.OrgName, d)
		}
	}
}

// TestErrorAlone: behind an error which of several faulty rows it names is open, and nothing else of the errors is.
func TestErrorAlone(t *testing.T) {
	rows := func(list ...string) answer {
		a := answer{RawResult: result("Level Code Message", list...)}
		errorAlone(a, 1062)
		return a
	}
	want := rows("Warning|1265|Data truncated", "Error|1062|Duplicate entry '15-41' for key 'h2.PRIMARY'", "Error|1105|Unknown error")
	for row, same := range map[string]bool{
		"Error|1062|Duplicate entry '34-41' for key 'h2.PRIMARY'": true,
		"Error|1062|Duplicate entry '34-41'":                      false,
		"Error|1022|Duplicate entry '34-41' for key 'h2.PRIMARY'": false,
	} {
		if d := compareRows(new(statement), want.RawResult, rows(row).RawResult); (d == nil) != same {
			t.Errorf("%s: %v", row, d)
		}
	}
}
