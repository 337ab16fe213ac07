package session

import (
	"errors"

	"kingshard/backend"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
)

// errUnaskedInfile says that a server asked for a local file without a LOAD DATA LOCAL.
var errUnaskedInfile = errors.New("the server asked for a local file that no statement named")

// suspect keeps the connection after a statement of which nobody knew that it changes the state of its session: by a trigger, say, that
// was made a moment ago.
func (xs *exchanges) suspect(p backend.Pooled, q *query) {
	visited := xs.client.tasked.visited
	xs.client.tasked.changed, xs.client.tasked.visited = false, false
	switch q.info.Class {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values, sqltext.Insert, sqltext.Replace, sqltext.Update, sqltext.Delete,
		sqltext.LoadData, sqltext.LoadDataLocal, sqltext.Do, sqltext.Show, sqltext.Explain, sqltext.Call:
	default:
		return
	}
	if q.info.Has(sqltext.Hint) { // which sets variables for the statement
		return
	}
	if q.reached == 0 {
		p.Instance.AskStored()
	}
	p.Conn.Marked = true
	if visited { // most likely nothing else, and perhaps for the one before, whose answer had no room to say so
		return
	}
	xs.client.txn.Pin(txn.PinTracker)
	xs.client.txn.Pin(txn.PinUserVariable)
	q.learns = xs.leases.sharing() == nil // else its state goes with the connection
}
