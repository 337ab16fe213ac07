package session

import (
	"errors"
	"fmt"
	"strings"

	"kingshard/mysql"
	"kingshard/router/plan"
)

// eachShard runs DDL on every physical table, one outcome each. A failure does not undo what was done: the client hears
// which tables are done, and the statement can be sent again with IF EXISTS or IF NOT EXISTS.
func (s *Session) eachShard(q *query, p *plan.Plan, r *plan.Route) (failed bool, err error) {
	if s.held.Pooled != nil {
		if err := s.held.Conn.Exec("COMMIT"); err != nil {
			return true, s.lost(s.held, err)
		}
		s.release(s.held)
	}
	s.state.pendingBegin = ""
	loans, err := s.borrow(s.nodesOf(r.Queries), false)
	if err != nil {
		return true, err
	}
	if !s.publish(loans) {
		s.giveBack(loans)
		return true, mysql.NewSQLError(mysql.ERQueryInterrupted, "Query execution was interrupted")
	}
	defer s.schema.Plans.forget()
	s.state.warnings, s.state.errorCount = s.state.warnings[:0], 0
	var done []string
	var first *mysql.SQLError
	var total mysql.OKPacket
	failures := 0
	for _, query := range r.Queries {
		l := find(loans, query.Node)
		l.Conn.Command(mysql.ComQuery, query.Text)
		var ok mysql.OKPacket
		err := l.Conn.Flush()
		if err == nil {
			ok, err = l.Conn.ReadChange()
		}
		var sqlErr *mysql.SQLError
		switch {
		case err == nil:
			done = append(done, query.Shards[0].String())
			addChange(&total, ok)
		case errors.As(err, &sqlErr):
			failures++
			if first == nil {
				e := *sqlErr
				e.Message = mysql.RenameText(e.Message, renames(p, query.Shards))
				first = &e
			}
		default:
			return true, s.loseAll(loans, err)
		}
	}
	if first != nil {
		s.unpublish()
		s.giveBack(loans)
		if len(done) > 0 {
			first.Message += fmt.Sprintf(" (%d of %d tables; done: %s)", failures, len(r.Queries), strings.Join(done, ", "))
		}
		return true, first
	}
	return false, s.wrote(loans, p, r, total)
}
