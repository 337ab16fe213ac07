package session

import (
	"time"

	"kingshard/mysql/sqltext"
	"kingshard/proxy/txn"
)

// carriedOut returns what is known of the statement that q has carried out where it carries out another one, else of itself.
func (xs *exchanges) carriedOut(q *query) (info *sqltext.Info, text string) {
	switch q.info.Class {
	case sqltext.Execute, sqltext.SetStatement:
		if st, ok, certain := xs.executed(q); ok && certain {
			return &st.info, st.text
		} else if in := q.carried(); in != nil {
			return &in.Info, in.Text
		}
	}
	return &q.info, q.text
}

// carried gives the statement that SET STATEMENT or EXECUTE IMMEDIATE, or one within the other, carries out; nil where it cannot be read.
func (q *query) carried() (only *sqltext.Inner) {
	if q.within == nil || q.unknown() {
		return nil
	}
	for k := range q.within.Inner {
		switch in := &q.within.Inner[k]; {
		case in.Assigned:
		case in.Later, in.Expressions, only != nil && only.Info.Class != sqltext.SetStatement && only.Info.Class != sqltext.Execute:
			return nil
		default:
			only = in
		}
	}
	return only
}

// foundAtReset is what FOUND_ROWS() goes on giving after COM_RESET_CONNECTION, which leaves it as it is on servers. The held
// connection is asked if that alone knows.
func (se settings) foundAtReset() uint64 {
	if p := se.client.txn.Held(); p.Pooled != nil && se.client.state.Found.OnlyOn() == p.Conn {
		p.Conn.Net.SetDeadline(time.Now().Add(txn.CleanupTimeout))
		if se.client.state.Found.Ask(p.Conn) != nil {
			se.leases.drop(p)
		}
	}
	return se.client.state.Found.Rows()
}
