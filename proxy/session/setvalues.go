package session

import (
	"kingshard/mysql/sqltext"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// heldValue says why a statement that takes a value set for one connection only cannot run on others; "" if it takes none: the ids
// of insert_id, the numbers that follow from rand_seed1 and rand_seed2, and what no text carries.
func (ro *routing) heldValue(q *query) string {
	switch {
	case ro.client.txn.Pins.Has(txn.PinInsertID) && state.InsertsRows(q.info.Class):
		return "insert_id"
	case ro.client.txn.Pins.Has(txn.PinRandSeed) && sqltext.Mentions(q.text, "rand"):
		return "rand_seed1 and rand_seed2"
	case ro.client.state.HeldVariable != "":
		return ro.client.state.HeldVariable
	}
	return ""
}
