package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// tableKind is how a table's rows are spread.
type tableKind int

const (
	hashed tableKind = iota
	ranged
	monthly
	reference
	single
	unplaced // of no rule: on the default node
	exactText
	foldedText
)

// table is a logical table.
type table struct {
	name     string
	kind     tableKind
	shardKey string    // for the kinds that have one
	primary  []string  // columns of the primary key, the sharding key among them
	keys     []*column // of the primary key
	columns  []*column // keys first, then a, s and d, then those of random types
	indexes  []string  // columns with an index of their own
	drawn    string    // the AUTO_INCREMENT column, whose ids the proxy draws; "" for none
	keyed    bool      // it has keys over all shards
	rows     [][]value // to begin with
}

// tables are those of every schema; h2 lies beside h1, user_id = id. Those that begin with i leave their ids to the proxy: as the sharding key, as a
// part of the primary key, and as an id beside both, which rows never bring, since no server would find one that two shards have. u1 has
// keys over its shards.
var tables = []table{
	{name: "h1", kind: hashed, shardKey: "id", primary: []string{"id"}},
	{name: "h2", kind: hashed, shardKey: "user_id", primary: []string{"user_id", "n"}},
	{name: "r1", kind: ranged, shardKey: "id", primary: []string{"id"}},
	{name: "m1", kind: monthly, shardKey: "day", primary: []string{"day", "id"}},
	{name: "ref", kind: reference, primary: []string{"id"}},
	{name: "one", kind: single, primary: []string{"id"}},
	{name: "loc", kind: unplaced, primary: []string{"id"}},
	{name: "k1", kind: exactText, shardKey: "code", primary: []string{"code", "id"}},
	{name: "k2", kind: foldedText, shardKey: "code", primary: []string{"code"}},
	{name: "i1", kind: hashed, shardKey: "id", primary: []string{"id"}, drawn: "id"},
	{name: "i2", kind: hashed, shardKey: "user_id", primary: []string{"user_id", "id"}, drawn: "id"},
	{name: "i3", kind: hashed, shardKey: "user_id", primary: []string{"user_id", "n"}, drawn: "id"},
	{name: "i4", kind: ranged, shardKey: "id", primary: []string{"id"}, drawn: "id"},
	{name: "u1", kind: hashed, shardKey: "id", primary: []string{"id"}, keyed: true},
}

func tableNames() []string {
	var names []string
	for _, t := range tables {
		names = append(names, t.name)
	}
	return names
}

// schema is the tables of one database with their rows.
type schema struct {
	tables []*table
}

// rowsMax is how many rows a table has at most to begin with: enough for ties on every shard, few enough to compare often.
const rowsMax = 36

// newSchema makes a random schema with random rows.
func newSchema(r *rand.Rand, d dialect) *schema {
	s := new(schema)
	for _, t := range tables {
		t := t
		for _, name := range t.primary {
			t.keys = append(t.keys, keyColumn(r, &t, name, d))
		}
		t.columns = append(t.columns, t.keys...)
		t.columns = append(t.columns, smallColumn("a"), stringColumn(r, "s", "VARCHAR(20)", d), doubleColumn("d"))
		if t.drawn != "" && !slices.Contains(t.primary, t.drawn) {
			t.columns = append(t.columns, drawnColumn(r, &t))
		}
		if t.keyed {
			t.columns = append(t.columns, keyedColumns(r)...)
		}
		for k := range 3 + r.IntN(4) {
			t.columns = append(t.columns, randomColumn(r, fmt.Sprintf("c%d", k), d))
		}
		for _, c := range t.columns[len(t.keys):] {
			if c.indexable && r.IntN(4) == 0 {
				t.indexes = append(t.indexes, c.name)
			}
		}
		t.fill(r)
		s.tables = append(s.tables, &t)
	}
	return s
}

// fill makes the table's rows: none now and then, so that shards are empty, too.
func (t *table) fill(r *rand.Rand) {
	if r.IntN(12) == 0 {
		return
	}
	seen := map[string]bool{}
	for range 1 + r.IntN(rowsMax) {
		row := t.row(r)
		if t.drawn != "" && !t.brings() {
			row[t.place(t.drawn)] = intValue(int64(1 + len(t.rows)))
		}
		if t.kind == exactText && t.keys[0].folds && strings.HasSuffix(row[0].text(), " ") {
			continue // it would equal keys of other shards: the proxy refuses to write it
		}
		var key strings.Builder
		for k := range t.keys {
			text := row[k].sql
			if t.keys[k].folds {
				text = fold(row[k].text())
			}
			key.WriteString(text + "\x00")
		}
		if texts := append(t.unique(row), key.String()); !slices.ContainsFunc(texts, func(text string) bool { return seen[text] }) {
			for _, text := range texts {
				seen[text] = true
			}
			t.rows = append(t.rows, row)
		}
	}
}

// row makes a random row.
func (t *table) row(r *rand.Rand) []value {
	row := make([]value, len(t.columns))
	for k, c := range t.columns {
		row[k] = c.pick(r)
	}
	return row
}

func (t *table) column(name string) *column {
	for _, c := range t.columns {
		if c.name == name {
			return c
		}
	}
	return nil
}

// place is where a column is among the others, 0 where there is none of that name.
func (t *table) place(name string) int {
	return max(0, slices.IndexFunc(t.columns, func(c *column) bool { return c.name == name }))
}

// shardColumn is where the sharding key is among the columns, 0 for tables that have none.
func (t *table) shardColumn() int { return t.place(t.shardKey) }

// brings tells whether rows may bring ids to a table that has them drawn.
func (t *table) brings() bool { return slices.Contains(t.primary, t.drawn) }

// lastKey is the last column of the key, or another where that is no number.
func (t *table) lastKey() *column {
	if c := t.keys[len(t.keys)-1]; c.class == integer {
		return c
	}
	return t.column("a")
}

// counts tells whether the table's key counts up by itself.
func (t *table) counts() bool { return t.kind == single || t.kind == unplaced }

func (t *table) columnNames() []string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

// create is the CREATE TABLE statement of a physical table.
func (t *table) create(db, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s.%s (", db, name)
	for _, c := range t.columns {
		fmt.Fprintf(&b, "%s %s, ", c.name, c.decl)
	}
	for _, name := range t.indexes {
		fmt.Fprintf(&b, "KEY (%s), ", name)
	}
	for _, x := range t.overShards() {
		if x.unique {
			fmt.Fprintf(&b, "UNIQUE ")
		}
		fmt.Fprintf(&b, "KEY %s (%s), ", x.name, strings.Join(x.columns, ", "))
	}
	switch {
	case t.drawn == "" || t.primary[0] == t.drawn:
	case t.brings():
		fmt.Fprintf(&b, "KEY (%s), ", t.drawn)
	default:
		fmt.Fprintf(&b, "UNIQUE KEY (%s), ", t.drawn)
	}
	fmt.Fprintf(&b, "PRIMARY KEY (%s)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", strings.Join(t.primary, ", "))
	return b.String()
}

// insert is the statement that puts rows into a physical table, "" for none.
func (t *table) insert(db, name string, rows [][]value) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "INSERT INTO %s.%s VALUES ", db, name)
	for k, row := range rows {
		if k > 0 {
			b.WriteString(", ")
		}
		b.WriteString("(")
		for i, v := range row {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(v.sql)
		}
		b.WriteString(")")
	}
	return b.String()
}
