package session

import (
	"strconv"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// mayGiveID reports whether a statement that inserts may itself have given the id.
func (xs *exchanges) mayGiveID(q *query, id uint64) bool {
	if q.idsSettled() {
		return false // the server made none of them
	}
	switch q.info.Class {
	case sqltext.Insert, sqltext.Replace:
	default:
		return true
	}
	if sqltext.MayGiveID(q.text, xs.client.mode(), id) {
		return true
	}
	if q.st == nil {
		return false
	}
	return len(q.st.long) > 0 || state.AnyIsID(q.st.params, q.ex.bitmap, q.ex.types, q.ex.values, id)
}

// lacksInsertID reports whether a statement on p must have LAST_INSERT_ID() set ahead of it.
func (xs *exchanges) lacksInsertID(p backend.Pooled, q *query) bool {
	if xs.client.state.InsertID.Gives(p.Conn) {
		return false
	}
	if xs.client.txn.Holds(p) || p.Conn.Status.Has(mysql.ServerStatusInTrans) || !xs.client.state.Autocommit || state.ReadsInsertID(&q.info, q.reached) ||
		xs.client.state.FindsByNull() {
		return true
	}
	if !state.InsertsRows(q.info.Class) {
		return false
	}
	// Whether the id in the answer was made by the server must show in what the connection has then.
	has, known := p.Conn.InsertID()
	return !known || has != 0 && xs.mayGiveID(q, has)
}

// bringInsertID makes LAST_INSERT_ID() give the session's own value on a connection, if the statement may see that: by a command
// that is queued ahead of it.
func (xs *exchanges) bringInsertID(p backend.Pooled, q *query) error {
	if !xs.lacksInsertID(p, q) {
		return nil
	}
	return xs.leases.queueInsertID(p)
}

// queueInsertID queues what makes LAST_INSERT_ID() give the session's own value on a connection ahead of the next command there.
func (ls *leases) queueInsertID(p backend.Pooled) error {
	if ls.client.state.InsertID.OnlyOn() == p.Conn {
		return nil
	}
	if err := ls.learnHeldInsertID(); err != nil {
		return err
	}
	ls.client.state.InsertID.Queue(p.Conn)
	return nil
}

// learnHeldInsertID asks the held connection where it alone knows. That may be found broken, and is ended then: so it comes before other
// connections are borrowed.
func (ls *leases) learnHeldInsertID() error {
	asked, err := ls.client.state.LearnInsertID(ls.client.txn.Conn())
	if err != nil {
		return ls.lostBefore(ls.client.txn.Held(), err)
	}
	if asked {
		ls.client.txn.LastOnHeld = false
	}
	return nil
}

// bringToLoans makes LAST_INSERT_ID() give the session's own value, which is known, on the connections of a query that may see it.
func (sh *shards) bringToLoans(q *query, loans []txn.Lease) error {
	if !state.ReadsInsertID(&q.info, q.reached) {
		return nil
	}
	id := sh.client.state.InsertID.Last()
	for _, l := range loans {
		if l.Conn.GivesInsertID(id) {
			continue
		}
		if err := sh.client.observed.Run(l.Pooled, sh.client.state.DB(), "SET last_insert_id="+strconv.FormatUint(id, 10)); err != nil {
			return err
		}
		l.Conn.NoteInsertID(id)
	}
	return nil
}

// insertedOnShards finds what LAST_INSERT_ID() is after a change of several shards: the smallest of the ids that their servers made.
func (sh *shards) insertedOnShards(q *query, loans []txn.Lease, ex *boundExecution) error {
	made, had := uint64(0), sh.client.state.InsertID.Last()
	for _, l := range loans {
		least, latest, told := l.Conn.ToldInsertIDs()
		if !told {
			if !q.info.Has(sqltext.LastInsertIDSet) {
				continue
			}
			id, err := l.Conn.ReadInsertID() // 0 and NULL are values, too, which an OK packet does not tell from none
			if err != nil {
				return err
			}
			if id != had {
				sh.client.state.InsertID = state.InsertIDOf(id)
			}
			continue
		}
		mayGive := ex != nil || state.InsertsRows(q.info.Class) && (sh.exchanges.mayGiveID(q, least) || sh.exchanges.mayGiveID(q, latest))
		id, err := sh.client.state.InsertID.OfShard(l.Conn, mayGive)
		if err != nil {
			return err
		}
		if id != 0 && (made == 0 || id < made) {
			made = id
		}
	}
	if made != 0 {
		sh.client.state.InsertID = state.InsertIDOf(made)
	}
	return nil
}
