package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kingshard/config"
	"kingshard/mysql"
	"kingshard/mysql/sqlparse"
	"kingshard/mysql/sqltext"
	"kingshard/router"
)

// testSchema holds the tables of the predecessor's facts (test1 to test_shard_day, h to t) and those of the goldens: u, o,
// c, seq and own have one sub-table on each node, so that no UNION is needed, v one in a database of its own on each; ref is on
// every node, one on one of them.
const testSchema = `
  - {db: kingshard, table: test1, key: id, nodes: [node1, node2, node3], type: hash, locations: [4, 4, 4]}
  - {db: kingshard, table: test2, key: id, nodes: [node1, node2, node3], type: range, locations: [4, 4, 4], table_row_limit: 10000}
  - {db: kingshard, table: test_shard_year, key: date, nodes: [node2, node3], type: date_year, date_range: [2012-2015, 2016-2018]}
  - {db: kingshard, table: test_shard_month, key: date, nodes: [node2, node3], type: date_month, date_range: [201512-201603, 201604-201608]}
  - {db: kingshard, table: test_shard_day, key: date, nodes: [node2, node3], type: date_day, date_range: [20151201-20160122, 20160202-20160308]}
  - {db: kingshard, table: h, key: id, nodes: [node1, node2, node3], type: hash, locations: [4, 4, 4]}
  - {db: kingshard, table: r, key: id, nodes: [node1, node2, node3], type: range, locations: [4, 4, 4], table_row_limit: 10000}
  - {db: kingshard, table: y, key: d, nodes: [node1, node2], type: date_year, date_range: [2012-2015, 2016-2018]}
  - {db: kingshard, table: m, key: d, nodes: [node1, node2], type: date_month, date_range: [201512-201603, 201604-201608]}
  - {db: kingshard, table: dd, key: d, nodes: [node1, node2], type: date_day, date_range: [20151230-20160102, "20160202"]}
  - {db: kingshard, table: s1, key: id, nodes: [node1], type: hash, locations: [3]}
  - {db: kingshard, table: u, key: id, nodes: [node1, node2], type: hash, locations: [1, 1]}
  - {db: kingshard, table: o, key: u_id, nodes: [node1, node2], type: hash, locations: [1, 1]}
  - {db: kingshard, table: c, key: code, nodes: [node1, node2], type: hash, locations: [1, 1]}
  - {db: kingshard, table: p, key: [id, at], nodes: [node1, node2], type: crc32, locations: [2, 2]}
  - {db: kingshard, table: seq, key: id, nodes: [node1, node2], type: hash, locations: [1, 1]}
  - {db: kingshard, table: own, key: n, nodes: [node1, node2], type: hash, locations: [1, 1]}
  - {db: kingshard, table: ref, type: reference}
  - {db: kingshard, table: refs, type: reference}
  - {db: kingshard, table: v, key: id, nodes: [node1, node2], type: hash, locations: [1, 1], sub_db: "{db}_{index:02}", sub_table: "{table}"}
  - {db: kingshard, table: one, nodes: [node2], type: single}
`

var mysql8 = sqltext.Mode{ServerVersion: 80400}

func testRouter(t testing.TB) *router.Router {
	t.Helper()
	c, faults := config.Parse([]byte(`addr: 127.0.0.1:9696
user_list:
- {user: app, password: sesame}
nodes:
- {name: node1, user: ks, master: "10.0.0.1:3306"}
- {name: node2, user: ks, master: "10.0.0.2:3306"}
- {name: node3, user: ks, master: "10.0.0.3:3306"}
schema_list:
- user: app
  nodes: [node1, node2, node3]
  default: node1
  shard:
`+testSchema), "", config.Options{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	r, err := router.New(c.SchemaList[0], router.Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	binaryCharset = 63
	generalCI     = 45 // utf8mb4_general_ci
	utf8mb4Bin    = 46
)

var (
	bigint    = mysql.ColumnDefinition41{Type: mysql.TypeLongLong, Length: 20, Charset: binaryCharset}
	varchar   = mysql.ColumnDefinition41{Type: mysql.TypeVarString, Length: 4 * 40, Charset: generalCI}
	varbin    = mysql.ColumnDefinition41{Type: mysql.TypeVarString, Length: 4 * 40, Charset: utf8mb4Bin}
	text      = mysql.ColumnDefinition41{Type: mysql.TypeBlob, Length: 4 * 65535, Charset: generalCI}
	decimal   = mysql.ColumnDefinition41{Type: mysql.TypeNewDecimal, Length: 12, Decimals: 2, Charset: binaryCharset}
	datetime  = mysql.ColumnDefinition41{Type: mysql.TypeDatetime, Length: 19, Charset: binaryCharset}
	timestamp = mysql.ColumnDefinition41{Type: mysql.TypeTimestamp, Length: 19, Charset: binaryCharset}
	enum      = mysql.ColumnDefinition41{Type: mysql.TypeString, Length: 4 * 5, Charset: generalCI, Flags: enumFlag}
	jsonType  = mysql.ColumnDefinition41{Type: mysql.TypeJSON, Length: 4294967295, Charset: binaryCharset}
	float     = mysql.ColumnDefinition41{Type: mysql.TypeFloat, Length: 12, Decimals: 31, Charset: binaryCharset}
	primary   = mysql.ColumnDefinition41{Type: mysql.TypeLongLong, Length: 20, Charset: binaryCharset, Flags: primaryKeyFlag}
	counter   = mysql.ColumnDefinition41{Type: mysql.TypeLongLong, Length: 20, Charset: binaryCharset, Flags: autoIncrementFlag | 2}
)

// columns names definitions: "id", bigint, "name", varchar.
func columns(list ...any) (defs []mysql.ColumnDefinition41) {
	for k := 0; k < len(list); k += 2 {
		d := list[k+1].(mysql.ColumnDefinition41)
		d.Name, d.OrgName = list[k].(string), list[k].(string)
		defs = append(defs, d)
	}
	return defs
}

// testColumns are the definitions of the tables.
var testColumns = map[string][]mysql.ColumnDefinition41{
	"test1": columns("id", bigint, "a", bigint),
	"test2": columns("id", bigint, "a", bigint),
	"h":     columns("id", bigint, "a", bigint, "name", varchar),
	"r":     columns("id", bigint, "a", bigint),
	"y":     columns("d", datetime, "a", bigint),
	"m":     columns("d", datetime, "a", bigint),
	"dd":    columns("d", datetime, "a", bigint),
	"s1":    columns("id", bigint, "a", bigint),
	"u": columns("id", bigint, "name", varchar, "tag", varbin, "note", text, "price", decimal, "at", datetime, "seen", timestamp, "kind", enum,
		"doc", jsonType, "score", float, "age", bigint),
	"o":    columns("u_id", bigint, "item", varbin, "price", decimal, "at", datetime),
	"c":    columns("code", varchar, "n", bigint),
	"p":    columns("id", bigint, "at", datetime, "n", bigint),
	"seq":  columns("n", counter, "id", bigint, "a", bigint),
	"own":  columns("n", counter, "a", bigint),
	"ref":  columns("id", primary, "name", varchar),
	"refs": columns("n", counter, "a", bigint),
	"v":    columns("id", bigint, "a", bigint),
	"one":  columns("id", bigint, "name", varchar),
}

// typed knows the columns, untyped none.
func typed(t *router.Table) (columns, invisible []mysql.ColumnDefinition41) {
	return testColumns[t.Name], nil
}
func untyped(*router.Table) (columns, invisible []mysql.ColumnDefinition41) { return nil, nil }

// parse reads a statement as sessions do: names of all tables with a rule are watched, and more.
func parse(text string, r *router.Router, m sqltext.Mode, more ...string) (*sqlparse.Statement, error) {
	return sqlparse.Parse(text, m, func(name string) bool {
		return slices.ContainsFunc(more, func(other string) bool { return strings.EqualFold(other, name) }) ||
			slices.ContainsFunc(r.Tables(), func(t *router.Table) bool { return strings.EqualFold(t.Name, name) })
	})
}

// build plans a statement of the database kingshard.
func build(text string, r *router.Router, c Catalog) (*Plan, error) {
	st, err := parse(text, r, mysql8)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	return Build(st, mysql8, r, "kingshard", c)
}

// columnsNamed makes definitions of numbers.
func columnsNamed(names string) (defs []mysql.ColumnDefinition41) {
	for _, name := range strings.Fields(names) {
		defs = append(defs, columns(name, bigint)...)
	}
	return defs
}
