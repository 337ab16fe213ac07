package session

import (
	"time"

	"kingshard/proxy/hotkeys"
	"kingshard/router/plan"
)

// countKeys counts the keys by which an execution was routed to one server.
func countKeys(tables *hotkeys.Tables, e *plan.Execution) {
	for ref := range e.Refs() {
		if k, ok := e.RoutedKey(ref); ok {
			tables.Of(k.Table.DB, k.Table.Name).Add(hotkeys.Key{Placed: k.Placed, Values: k.Values, Shard: k.Shard, Pinned: k.Pinned}, time.Now())
		}
	}
}
