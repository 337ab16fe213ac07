package session

import (
	"fmt"
	"strconv"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/txn"
	"kingshard/router/plan"
)

// REPLACE, INSERT IGNORE and ON DUPLICATE KEY UPDATE take a row whose id is there for the one that is meant: with a drawn id, that is another row, which a
// client or another proxy has put there. So the ids are looked for before such a statement, in its transaction.

// idsFree looks for drawn ids of a statement that replaces rows in the shards that the rows go to. The error is that of an INSERT of one that is
// there.
func (cs *changes) idsFree(c *change, r *plan.Route, ids *rowIDs) error {
	if !ids.drawn() || !ids.replaces {
		return nil
	}
	id, err := cs.leastID(c, r, ids)
	if err == nil && id != 0 {
		err = mysql.NewSQLError(mysql.ERDupEntry, "Duplicate entry '%d' for key 'PRIMARY'", id)
	}
	return err
}

// heldAloneTells reports whether a statement's text asks the held connection for what the question for ids that are there would change.
func (q *query) heldAloneTells(c *client) bool {
	traits := q.info.Traits
	if q.st != nil {
		traits = q.st.info.Traits
	}
	return c.txn.Holding() && (traits&sqltext.FoundRows != 0 && c.txn.Conn() == c.state.Found.OnlyOn() || traits&sqltext.SysVarWarningCount != 0 && c.heldTells())
}

// newRows finds the least drawn id that is in the shards after a statement not all of whose rows need be new. Of one row its answer tells that, unless the answer is
// the row.
func (cs *changes) newRows(c *change, r *plan.Route, ids *rowIDs) error {
	if !ids.drawn() || ids.plainly || ids.rows == 1 && !ids.returning {
		return nil
	}
	var err error
	ids.newest, err = cs.leastID(c, r, ids)
	return err
}

// leastID finds the least of the drawn ids that are in the shards that the rows go to; 0 if none is.
func (cs *changes) leastID(c *change, r *plan.Route, ids *rowIDs) (least uint64, err error) {
	for k := range r.Queries {
		id, err := cs.leastOfShard(c, &r.Queries[k], ids)
		if err != nil {
			return 0, err
		}
		if id != 0 && (least == 0 || id < least) {
			least = id
		}
	}
	return least, nil
}

// leastOfShard asks for the least of the drawn ids that a shard has; 0 if it has none.
func (cs *changes) leastOfShard(c *change, query *plan.Query, ids *rowIDs) (least uint64, err error) {
	l := txn.Find(c.loans, query.Node)
	if l.Kept {
		if err := cs.client.state.Found.Settle(l.Conn, false); err != nil { // the question finds a row
			return 0, err
		}
		cs.client.state.Found.Overwritten()
	}
	quote := func(name string) string {
		text, _ := sqltext.QuoteIdent(name, cs.client.mode())
		return text
	}
	column, shard := quote(ids.column), query.Shards[0]
	text := fmt.Sprintf("SELECT COALESCE(MIN(%s), 0) FROM %s.%s WHERE %s BETWEEN %d AND %d LIMIT 1", column, quote(shard.DB), quote(shard.Table), column, ids.first, ids.last)
	span := cs.client.observed.OwnSpan(l.Instance, cs.client.state.DB(), text)
	err = l.Conn.Rows(text, 1, func(row []string) { least, _ = strconv.ParseUint(row[0], 10, 64) })
	observe.EndSpan(span, err)
	return least, err
}
