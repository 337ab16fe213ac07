package scenario

import (
	"fmt"
	"strings"

	"kingshard/bench/load"
	"kingshard/bench/report"
	"kingshard/bench/rig"
)

// What clients read a table of orders by, each through a proxy and of a table of its own.
var (
	byShardingKey = readBy("kingshard, by the sharding key", "orders_by_id")
	byUniqueKey   = readBy("kingshard, by a unique key", "orders_by_number")
	byLookupKey   = readBy("kingshard, by a lookup key", "orders_by_customer")
	// unsharded is for the same read as byLookupKey of a table on one node: by a key that is not unique, and costs a server more than a unique one.
	unsharded = readBy("kingshard, by that key of an unsharded table", ordersOnOne)
)

const (
	lookupClients = 16
	// orders are the rows of each table, a multiple of ordersAtOnce: as many are inserted by one statement.
	orders       = 10_000
	ordersAtOnce = 500
	ordersOnOne  = "orders_on_one"
)

// readBy returns the proxy over two nodes with a table of orders that has keys over its shards.
func readBy(name, table string) rig.Spec {
	s := spread(name)
	s.Config = "transaction_mode: atomic\nxa_on_unsafe_server: true"
	if table != ordersOnOne {
		s.Rules = []string{fmt.Sprintf("table: %s, key: id, type: hash, locations: [1, 1], unique: [number], lookup: [customer]", table)}
	}
	s.Setup = []string{
		"DROP TABLE IF EXISTS " + table,
		"CREATE TABLE " + table + " (id BIGINT NOT NULL PRIMARY KEY, number BIGINT NOT NULL, customer BIGINT NOT NULL, note VARCHAR(40) NOT NULL," +
			" UNIQUE KEY number (number), KEY customer (customer))",
	}
	for from := 0; from < orders; from += ordersAtOnce {
		var rows []string
		for n := from + 1; n <= from+ordersAtOnce; n++ {
			rows = append(rows, fmt.Sprintf("(%d, %d, %[2]d, 'note %[1]d')", n, orders+1-n))
		}
		s.Setup = append(s.Setup, "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "))
	}
	return s
}

// lookups are reads of one row by a key that tells its shard, and by keys that an index over the shards is asked for.
func lookups() []Scenario {
	var all []Scenario
	for _, prepared := range []bool{false, true} {
		rows := func(table, column string) work {
			text := "SELECT note FROM " + table + " WHERE " + column + " = ?"
			return closed{clients: lookupClients, statement: load.Statement{Text: text, Keys: orders, Prepared: prepared}}
		}
		all = append(all, Scenario{
			Family: "lookup/" + form(prepared), Parameter: "clients", X: lookupClients,
			Work: workOf{
				byShardingKey.Name: rows("orders_by_id", "id"),
				byUniqueKey.Name:   rows("orders_by_number", "number"),
				byLookupKey.Name:   rows("orders_by_customer", "customer"),
				unsharded.Name:     rows(ordersOnOne, "customer"),
			},
			Against: []rig.Spec{byShardingKey, byUniqueKey, byLookupKey, unsharded},
		})
	}
	return all
}

// lookupName is the name of a scenario of lookups.
func lookupName(prepared bool) string {
	return report.ScenarioName("lookup/"+form(prepared), "clients", lookupClients)
}
