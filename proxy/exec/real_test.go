package exec

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/mysql/value"
	"kingshard/router/plan"
)

// The tables of the real tests: whole has the rows of part_0, part_1 and part_2.
const (
	realParts   = 3
	realColumns = `id INT PRIMARY KEY, i INT, u BIGINT UNSIGNED, d DECIMAL(20,4), d5 DECIMAL(20,5), big DECIMAL(65,0), f DOUBLE, f2 DOUBLE(12,2), dt DATETIME(6),
		da DATE, ti TIME(3), y YEAR, b BIT(12), s VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_swedish_ci, v VARBINARY(20)`
)

// realRows has the edges of each type, NULLs, and values that differ only where a wrong comparison does not look. Doubles
// that are added up are quarters: other sums of doubles depend on the order of the rows, on one server as well.
func realRows() []string {
	rows := []string{
		"NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
		"-2147483648, 18446744073709551615, -9999999999999999.9999, 0.00001, 99999999999999999999999999999999999999999999999999999999999999999, 1.5e300, -0.25, '9999-12-31 23:59:59.999999', '9999-12-31', '-838:59:59', 2155, b'111111111111', 'y', 0xff",
		"2147483647, 0, 9999999999999999.9999, 0.00002, -99999999999999999999999999999999999999999999999999999999999999999, -1.5e300, 0.25, '1000-01-01 00:00:00', '1000-01-01', '838:59:59', 1901, b'0', 'y ', 0x00",
	}
	for k := range 60 {
		rows = append(rows, fmt.Sprintf("%d, %d, %d.%04d, 0.%05d, %d, %d.125e%d, %d.%02d, '2024-%02d-%02d %02d:00:00.%06d', '2024-%02d-%02d', '%d:%02d:00.%03d', %d, %d, '%s', '%c%c'",
			k%7-3, uint64(1)<<(k%60), (k%11)-5, k*37%10000, k%4, k*k, k-30, k%40-20, k%9-4, k%4*25,
			k%12+1, k%28+1, k%24, k%5, k%12+1, k%27+1, (k%9-4)*30, k%60, k%7, 1990+k%9, k%16, strings.Repeat(string(rune('A'+k%3)), k%4)+[]string{"", " ", "\\t", "x"}[k%4], 'a'+k%5, 'A'+k%2))
	}
	return rows
}

// prepareReal makes the tables; session is the client's.
func prepareReal(t *testing.T, c *mysqltest.RawClient) {
	t.Helper()
	exec := func(sql string) {
		if _, err := c.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	exec("CREATE DATABASE merge_test")
	t.Cleanup(func() { _, _ = c.Exec("DROP DATABASE merge_test"); _ = c.Close() })
	exec("USE merge_test")
	exec("SET sql_mode=''")
	for _, name := range []string{"whole", "part_0", "part_1", "part_2"} {
		exec("CREATE TABLE " + name + " (" + realColumns + ")")
	}
	for k, row := range realRows() {
		// Not by the number modulo the parts, which would give the parts too much in common.
		for _, name := range []string{"whole", fmt.Sprintf("part_%d", k*k%7%realParts)} {
			exec(fmt.Sprintf("INSERT INTO %s VALUES (%d, %s)", name, k, row))
		}
	}
}

// realCase is a query for the whole and the one for the parts; both have FROM t.
type realCase struct {
	name  string
	whole string
	parts string
	plan  plan.Merge
	// padded is the key that needs the weight of a space.
	padded bool
}

func realCases() []realCase {
	var cases []realCase
	for _, column := range []string{"i", "u", "d", "d5", "big", "f", "f2", "dt", "da", "ti", "y", "b", "v", "dt, ti", "-i", "i/7", "f/3"} {
		for _, desc := range []bool{false, true} {
			direction := map[bool]string{false: "", true: " DESC"}[desc]
			n := strings.Count(column, ",") + 1
			c := realCase{name: "order by " + column + direction, plan: plan.Merge{Visible: 1}}
			for k := range n {
				c.plan.Order = append(c.plan.Order, plan.OrderKey{Column: k + 1, Desc: desc})
			}
			c.plan.Order = append(c.plan.Order, plan.OrderKey{Column: 0})
			c.parts = "SELECT id, " + column + " FROM t ORDER BY " + strings.ReplaceAll(column, ",", direction+",") + direction + ", id"
			c.whole = strings.Replace(c.parts, "id, "+column, "id", 1)
			cases = append(cases, c)
		}
	}
	average := func(column string) realCase {
		return realCase{
			name: "aggregates of " + column, whole: "SELECT COUNT(x), SUM(x), AVG(x), MIN(x), MAX(x) FROM (SELECT " + column + " AS x FROM t) q",
			parts: "SELECT COUNT(x), SUM(x), AVG(x), MIN(x), MAX(x) FROM (SELECT " + column + " AS x FROM t) q",
			plan: plan.Merge{Visible: 5, Aggregates: []plan.Aggregate{
				{Func: plan.Count, Column: 0}, {Func: plan.Sum, Column: 1}, {Func: plan.Avg, Column: 2, Sum: 1, Count: 0},
				{Func: plan.Min, Column: 3, By: plan.OrderKey{Column: 3}}, {Func: plan.Max, Column: 4, By: plan.OrderKey{Column: 4}},
			}},
		}
	}
	for _, column := range []string{"i", "d", "d5", "big", "f2", "i/7", "d*d5", "i*i*1.000000001", "y", "IF(id<0,i,NULL)"} {
		cases = append(cases, average(column))
	}
	for _, column := range []string{"i", "dt", "da", "ti", "y", "d"} {
		c := average("d5")
		c.name = "groups by " + column
		c.parts = "SELECT COUNT(*), SUM(d5), AVG(d5), MIN(ti), MAX(dt), " + column + ", COUNT(d5) FROM t GROUP BY " + column + " ORDER BY " + column
		c.whole = strings.Replace(c.parts, ", COUNT(d5) FROM", " FROM", 1)
		c.plan.Visible, c.plan.Order, c.plan.Group, c.plan.Aggregates[2].Count = 6, []plan.OrderKey{{Column: 5}}, []int{5}, 6
		cases = append(cases, c)
	}
	return append(cases,
		realCase{"order by string", "SELECT id FROM t ORDER BY s, id", "SELECT id, WEIGHT_STRING(s) FROM t ORDER BY s, id",
			plan.Merge{Visible: 1, Order: []plan.OrderKey{{Column: 1}, {Column: 0}}}, true},
		realCase{"strings and their number", "SELECT COUNT(*), MIN(id) FROM t GROUP BY s ORDER BY s", "SELECT COUNT(*), MIN(id), WEIGHT_STRING(MIN(s)) FROM t GROUP BY s ORDER BY s",
			plan.Merge{Visible: 2, Order: []plan.OrderKey{{Column: 2}}, Group: []int{2}, Aggregates: []plan.Aggregate{
				{Func: plan.Count, Column: 0}, {Func: plan.Min, Column: 1, By: plan.OrderKey{Column: 1}}}}, true},
		realCase{name: "distinct", whole: "SELECT DISTINCT y, b FROM t ORDER BY y, b DESC", parts: "SELECT DISTINCT y, b FROM t ORDER BY y, b DESC",
			plan: plan.Merge{Visible: 2, Order: []plan.OrderKey{{Column: 0}, {Column: 1, Desc: true}}, Distinct: true}},
	)
}

// TestAgainstServers compares merges of the parts with what the server itself answers for the whole, in both formats.
func TestAgainstServers(t *testing.T) {
	if testing.Short() {
		t.Skip("needs servers")
	}
	for _, kind := range mysqltest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			server := mysqltest.Shared(t, kind)
			config := mysqltest.ClientConfig{User: mysqltest.User, Password: mysqltest.Password}
			first, err := mysqltest.DialRaw(server.Addr, config)
			if err != nil {
				t.Fatal(err)
			}
			prepareReal(t, first)
			config.DB = "merge_test"
			r := real{whole: first}
			for range realParts {
				c, err := mysqltest.DialRaw(server.Addr, config)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				if _, err := c.Exec("SET sql_mode=''"); err != nil {
					t.Fatal(err)
				}
				r.parts = append(r.parts, c)
			}
			for _, c := range realCases() {
				if c.padded {
					c.plan.Order[0].Space = r.space(t)
				}
				r.compare(t, &c, value.TextRow)
				r.compare(t, &c, value.BinaryRow)
			}
		})
	}
}

// real is the connections of one server.
type real struct {
	whole *mysqltest.RawClient
	parts []*mysqltest.RawClient
}

func (r *real) space(t *testing.T) []byte {
	res, err := r.whole.Exec("SELECT WEIGHT_STRING(_latin1' ' COLLATE latin1_swedish_ci)")
	if err != nil || res.Rows[0][0] == nil {
		t.Fatal(res, err)
	}
	return []byte(res.Rows[0][0].(string))
}

func (r *real) compare(t *testing.T, c *realCase, f value.Format) {
	t.Helper()
	want, err := execute(r.whole, strings.ReplaceAll(c.whole, "FROM t", "FROM whole"), f)
	if err != nil || want.Err != nil {
		t.Fatalf("%s: %v %v", c.whole, err, want.Err)
	}
	var sources []*Source
	for k, part := range r.parts {
		if err := send(part, strings.ReplaceAll(c.parts, "FROM t", fmt.Sprintf("FROM part_%d", k)), f); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, NewSource(part.Conn, f))
	}
	dst := newClient(withoutEOF)
	if _, err := mergeAndFlush(dst.conn, sources, &c.plan, Options{Limit: noLimit}); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	got := dst.result(t, f)
	if show(got) != show(want) {
		t.Errorf("%s, format %d:\n%s\nwant\n%s", c.name, f, show(got), show(want))
	}
	for k := range want.Columns {
		g, w := &got.Columns[k], &want.Columns[k]
		if g.Type != w.Type || g.Charset != w.Charset || g.Decimals != w.Decimals {
			t.Errorf("%s, format %d: column %+v, want %+v", c.name, f, g, w)
		}
	}
}

// execute runs a query and reads its result.
func execute(c *mysqltest.RawClient, sql string, f value.Format) (*mysqltest.RawResult, error) {
	if f == value.TextRow {
		return c.Query(sql)
	}
	s, err := c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	return s.Execute()
}

// send sends a query and leaves its response to be read.
func send(c *mysqltest.RawClient, sql string, f value.Format) error {
	if f == value.TextRow {
		return c.Send(mysql.ComQuery, sql)
	}
	s, err := c.Prepare(sql)
	if err != nil {
		return err
	}
	body, err := s.ExecuteBody(0)
	if err != nil {
		return err
	}
	return c.Send(mysql.ComStmtExecute, body)
}
