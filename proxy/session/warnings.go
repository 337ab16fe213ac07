package session

import (
	"strconv"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/proxy/session/state"
)

// noWarnings forgets the warnings of the statement before, as one does that the session answers itself; MariaDB goes on showing
// them after a statement without tables.
func (s *Session) noWarnings() {
	if s.txn.LastOnHeld = false; s.mode().MariaDB {
		return
	}
	s.state.Diagnostics.Forget()
}

// fetchWarnings keeps what the last statement left in the diagnostics area before its connection goes to others.
func (s *Session) fetchWarnings(p backend.Pooled, names []mysql.TableName) error {
	s.state.Diagnostics.Clear()
	return s.addWarnings(p, names)
}

// addWarnings adds what the last statement on a connection left to the session's warnings, with the names that the client
// knows.
func (s *Session) addWarnings(p backend.Pooled, names []mysql.TableName) error {
	span := s.observed.OwnSpan(p.Instance, s.state.DB(), "SHOW WARNINGS")
	more, err := state.ReadWarnings(p.Conn, names)
	observe.EndSpan(span, err)
	s.state.Diagnostics.Add(more)
	return err
}

// heldTells reports whether the held connection's diagnostics area tells what the client's last statement left, or one before that.
func (s *Session) heldTells() bool {
	return s.txn.Holding() && s.txn.LastOnHeld && (!s.txn.Conn().Info.MariaDB || s.txn.Conn().Diagnosed == s.id)
}

// show answers SHOW PROCESSLIST, SHOW WARNINGS and SHOW ERRORS. The latter go to the held connection when the statement
// before ran there: its diagnostics are complete.
func (s *Session) show(q *query) (handled bool, err error) {
	sh, ok := sqltext.ParseShow(q.text, s.mode())
	if !ok && q.info.Class != sqltext.ShowProcesslist && !s.heldTells() {
		return true, refuse("SHOW WARNINGS or SHOW ERRORS in a form that is not known, behind a statement of which no connection of the session's knows")
	}
	if !ok {
		return false, nil
	}
	if sh.What == sqltext.Processlist {
		s.writeProcesslist(sh.Full)
		return true, nil
	}
	if s.heldTells() {
		if len(s.txn.LastNames) == 0 && s.entry.Command() != mysql.ComStmtExecute || sh.What == sqltext.CountWarnings || sh.What == sqltext.CountErrors {
			return false, nil
		}
		if err := s.fetchWarnings(s.txn.Held(), s.txn.LastNames); err != nil {
			return true, s.lost(s.txn.Held(), err)
		}
	}
	switch sh.What {
	case sqltext.CountWarnings:
		s.state.Found.Found(1)
		s.writeRows([]string{"@@session.warning_count"}, []mysql.ColumnType{mysql.TypeLongLong}, [][]string{{strconv.Itoa(s.state.Diagnostics.WarningCount)}})
	case sqltext.CountErrors:
		s.state.Found.Found(1)
		s.writeRows([]string{"@@session.error_count"}, []mysql.ColumnType{mysql.TypeLongLong}, [][]string{{strconv.Itoa(s.state.Diagnostics.ErrorCount)}})
	default:
		s.writeRows([]string{"Level", "Code", "Message"}, []mysql.ColumnType{mysql.TypeVarString, mysql.TypeLong, mysql.TypeVarString}, s.state.Diagnostics.Shown(sh))
	}
	return true, nil
}
