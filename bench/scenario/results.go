package scenario

import (
	"fmt"
	"strings"

	"kingshard/bench/load"
	"kingshard/bench/rig"
)

// pointText is sysbench's point select with a key that every copy of the table has.
const pointText = "SELECT c FROM sbtest1 WHERE id=1"

// point is sysbench's point select.
var point = load.Statement{Text: "SELECT c FROM sbtest1 WHERE id=?", Keys: rig.Rows}

// relayed are the contenders of scenarios about the bytes of one connection.
var relayed = []rig.Spec{direct, plain, haproxy}

// results are responses of all sizes, by our own load, which reads rows for less than sysbench.
func results() []Scenario {
	var all []Scenario
	for _, prepared := range []bool{false, true} {
		all = append(all, Scenario{
			Family: "one-client/" + form(prepared), Against: []rig.Spec{direct, plain, haproxy, oneShard},
			Work: closed{clients: 1, statement: load.Statement{Text: point.Text, Keys: point.Keys, Prepared: prepared}},
		})
	}
	for _, r := range []struct{ rows, clients int }{{1, 16}, {100, 16}, {10_000, 4}, {1_000_000, 1}} {
		all = append(all, Scenario{
			Family: "rows", Parameter: "rows", X: float64(r.rows), Against: relayed, SecondsMin: map[int]int{1_000_000: 5}[r.rows],
			Work: closed{clients: r.clients, statement: rowsStatement(r.rows)},
		})
	}
	return append(all,
		Scenario{
			Family: "columns", Parameter: "columns", X: rig.WideColumns, Against: relayed,
			Work: closed{clients: 16, statement: load.Statement{Text: "SELECT * FROM wide WHERE c0=?", Keys: rig.WideRows}},
		},
		Scenario{
			Family: "row-bytes", Parameter: "bytes", X: rig.BlobBytes, Against: relayed,
			Work: closed{clients: 16, statement: load.Statement{Text: "SELECT b FROM blobs WHERE id=?", Keys: rig.BlobRows}},
		},
		Scenario{
			Family: "slow-reader", Against: relayed,
			Work: closed{clients: 16, statement: point, slowText: rowsStatement(1_000_000).Text, slowRows: 10_000},
		},
	)
}

// rowsStatement gives so many rows of about 130 bytes.
func rowsStatement(rows int) load.Statement {
	switch {
	case rows == 1:
		return point
	case rows <= rig.Rows:
		return load.Statement{Text: fmt.Sprintf("SELECT id, c FROM sbtest1 WHERE id >= ? LIMIT %d", rows), Keys: rig.Rows - rows + 1}
	}
	return load.Statement{Text: fmt.Sprintf("SELECT s.id, s.c FROM digits d, sbtest1 s WHERE d.d < %d", rows/rig.Rows)}
}

// statements are commands of all sizes.
func statements() []Scenario {
	var all []Scenario
	for _, bytes := range []int{1000, 17_000, 170_000} {
		all = append(all, Scenario{
			Family: "statement-bytes", Parameter: "bytes", X: float64(bytes), Against: relayed,
			Work: closed{clients: 8, statement: longStatement(bytes)},
		})
	}
	return append(all,
		Scenario{
			Family: "orm-select", Parameter: "columns", X: rig.WideColumns, Against: relayed,
			Work: closed{clients: 8, statement: ormStatement()},
		},
		Scenario{
			Family: "big-insert", Parameter: "bytes", X: 1_000_000, Against: relayed,
			Work: closed{clients: 4, statement: load.Statement{
				Text: "REPLACE INTO sink VALUES (?, '" + strings.Repeat("0123456789", 100_000) + "')", Keys: 64,
			}},
		},
	)
}

// longStatement is a point select with a list of numbers that makes it so many bytes long.
func longStatement(bytes int) load.Statement {
	var b strings.Builder
	b.WriteString("SELECT c FROM sbtest1 WHERE id=? AND k NOT IN (-1")
	for n := 1_000_000; b.Len() < bytes-10; n++ {
		fmt.Fprintf(&b, ", -%d", n)
	}
	return load.Statement{Text: b.String() + ")", Keys: rig.Rows}
}

// ormStatement is the 17 KB that an ORM writes to read an entity of 400 attributes.
func ormStatement() load.Statement {
	columns := make([]string, rig.WideColumns)
	for i := range columns {
		columns[i] = fmt.Sprintf("`wide0_`.`c%d` AS `entity_attribute_c%d_0_0_`", i, i)
	}
	return load.Statement{Text: "SELECT " + strings.Join(columns, ", ") + " FROM `wide` `wide0_` WHERE `wide0_`.`c0`=?", Keys: rig.WideRows}
}
