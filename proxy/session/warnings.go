package session

import (
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/observe"
	"kingshard/router/plan"
)

// warning is a row of SHOW WARNINGS.
type warning struct {
	Level   string
	Code    uint16
	Message string
	row     int // of the INSERT that it is about, from 1; 0 where it names none
}

// warningsMax bounds the warnings kept for a session whose connection went back to the pool.
const warningsMax = 1024

// erDeprecated is the code of the warning of syntax that goes. MySQL manual: "Server Error Message Reference".
const erDeprecated = 1287

// ofText are the codes of warnings about the text of a statement: that something in it is deprecated. MySQL manual: "Server
// Error Message Reference".
var ofText = map[uint16]bool{erDeprecated: true, 1681: true, 3719: true, 3720: true, 3778: true}

// erTruncatedWrongValue is the code of a value that is none of a type. MySQL manual: "Server Error Message Reference".
const erTruncatedWrongValue = 1292

// ofConstant tells whether a warning of a query is about a constant of its text, or a parameter: MySQL puts those into the columns of an
// index that they are compared with, once for each table. Rows are never told of by column.
func (w *warning) ofConstant(q *plan.Query) bool {
	if w.Code != erTruncatedWrongValue {
		return false
	}
	_, value, _ := strings.Cut(w.Message, ": '")
	value, _, stored := strings.Cut(value, "' for column '")
	return stored && (len(q.Args) > 0 || strings.Contains(q.Text, value))
}

// oncePerColumn are those that MySQL gives once for each column, however many rows are at fault: that a value is missing,
// or NULL where none may be.
var oncePerColumn = map[uint16]bool{1048: true, 1364: true}

// noWarnings forgets the warnings of the statement before, as one does that the session answers itself; MariaDB goes on showing
// them after a statement without tables.
func (s *Session) noWarnings() {
	if s.heldLast = false; s.mode().MariaDB {
		return
	}
	s.state.warnings, s.state.warningCount, s.state.errorCount = s.state.warnings[:0], 0, 0
}

// fetchWarnings keeps what the last statement left in the diagnostics area before its connection goes to others.
func (s *Session) fetchWarnings(p backend.Pooled, names []mysql.TableName) error {
	s.state.warnings, s.state.errorCount = s.state.warnings[:0], 0
	return s.addWarnings(p, names)
}

// addWarnings adds what the last statement on a connection left to the session's warnings, with the names that the client
// knows.
func (s *Session) addWarnings(p backend.Pooled, names []mysql.TableName) error {
	span := s.observed.OwnSpan(p.Instance, s.state.db, "SHOW WARNINGS")
	more, err := readWarnings(p, names)
	observe.EndSpan(span, err)
	for _, w := range more[:min(len(more), warningsMax-len(s.state.warnings))] {
		s.state.warnings = append(s.state.warnings, w)
		if w.Level == "Error" {
			s.state.errorCount++
		}
	}
	return err
}

// readWarnings reads what the last statement on a connection left, with the names that the client knows.
func readWarnings(p backend.Pooled, names []mysql.TableName) (list []warning, err error) {
	err = p.Conn.Rows("SHOW WARNINGS", 3, func(row []string) {
		if len(list) >= warningsMax {
			return
		}
		code, _ := strconv.ParseUint(row[1], 10, 16)
		list = append(list, warning{Level: row[0], Code: uint16(code), Message: mysql.RenameText(uint16(code), row[2], names)})
	})
	return list, err
}

// heldTells reports whether the held connection's diagnostics area tells what the client's last statement left, or one before that.
func (s *Session) heldTells() bool {
	return s.held.Pooled != nil && s.heldLast && (!s.held.Conn.Info.MariaDB || s.held.Conn.Diagnosed == s.id)
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
		if len(s.heldNames) == 0 && s.entry.Command() != mysql.ComStmtExecute || sh.What == sqltext.CountWarnings || sh.What == sqltext.CountErrors {
			return false, nil
		}
		if err := s.fetchWarnings(s.held, s.heldNames); err != nil {
			return true, s.lost(s.held, err)
		}
	}
	switch sh.What {
	case sqltext.CountWarnings:
		s.state.found.found(1)
		s.writeRows([]string{"@@session.warning_count"}, []mysql.ColumnType{mysql.TypeLongLong}, [][]string{{strconv.Itoa(s.state.warningCount)}})
	case sqltext.CountErrors:
		s.state.found.found(1)
		s.writeRows([]string{"@@session.error_count"}, []mysql.ColumnType{mysql.TypeLongLong}, [][]string{{strconv.Itoa(s.state.errorCount)}})
	default:
		s.writeWarnings(sh)
	}
	return true, nil
}

func (s *Session) writeWarnings(sh sqltext.ShowStmt) {
	var rows [][]string
	skip := max(sh.Offset, 0)
	for _, w := range s.state.warnings {
		if sh.What == sqltext.Errors && w.Level != "Error" {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if sh.Limit >= 0 && len(rows) >= sh.Limit {
			break
		}
		rows = append(rows, []string{w.Level, strconv.Itoa(int(w.Code)), w.Message})
	}
	s.writeRows([]string{"Level", "Code", "Message"}, []mysql.ColumnType{mysql.TypeVarString, mysql.TypeLong, mysql.TypeVarString}, rows)
}
