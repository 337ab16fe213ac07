package session

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/ddl"
)

// adminDDL is ADMIN DDL LIST, RESUME [id] or FORGET id.
type adminDDL struct {
	verb string // in lower case
	id   uint64 // 0: not given
}

// parseAdminDDL reads the command; ok is false for any other statement.
func parseAdminDDL(text string, m sqltext.Mode) (a adminDDL, ok bool) {
	var words []string
	l := sqltext.NewLexer(text, m)
	for {
		t := l.Next()
		if t.Kind == sqltext.KindEOF || t.Kind == sqltext.KindSemicolon {
			break
		}
		if t.Kind != sqltext.KindWord && t.Kind != sqltext.KindNumber || len(words) == 4 {
			return a, false
		}
		words = append(words, strings.ToLower(text[t.Pos:t.End]))
	}
	if len(words) < 3 || words[0] != "admin" || words[1] != "ddl" {
		return a, false
	}
	a.verb = words[2]
	if len(words) == 4 {
		var err error
		if a.id, err = strconv.ParseUint(words[3], 10, 64); err != nil || a.id == 0 {
			return a, false
		}
	}
	switch a.verb {
	case "list":
		return a, a.id == 0
	case "resume":
		return a, true
	case "forget":
		return a, a.id != 0
	}
	return a, false
}

// admin answers the proxy's own commands: ADMIN DDL is about the user's own statements, or with the right process about
// anybody's. handled is false for everything else.
func (s *Session) admin(q *query) (handled bool, err error) {
	a, ok := parseAdminDDL(q.text, s.client.mode())
	if !ok {
		return false, nil
	}
	journal := &s.client.shared.DDL
	switch a.verb {
	case "list":
		s.writeDDL(journal.List(s.client.entry.Name(), s.client.account.Process))
		return true, nil
	case "forget":
		if err := journal.Forget(a.id, s.client.entry.Name(), s.client.account.Process); err != nil {
			return true, noDDL(err)
		}
		s.client.shared.Log.Info("DDL is forgotten", "conn", s.client.id, "user", s.client.entry.Name(), "ddl", a.id)
		s.client.writeOK()
		return true, nil
	}
	run, err := journal.Resume(a.id, s.client.entry.Name(), s.client.account.Process)
	if err != nil {
		return true, noDDL(err)
	}
	if err := s.leases.endForDDL(); err != nil {
		run.End()
		return true, err
	}
	d := definition{s: &s.exchanges.several().definitions, run: run, resumed: true}
	_, err = d.carryOut()
	return true, err
}

func noDDL(err error) *mysql.SQLError {
	if errors.Is(err, ddl.ErrSeveral) {
		return newError(KSNoDDL, err.Error()+" of ADMIN DDL LIST")
	}
	return newError(KSNoDDL, err.Error())
}

// writeDDL answers ADMIN DDL LIST.
func (s *Session) writeDDL(entries []ddl.Entry) {
	rows := [][]string{}
	for _, e := range entries {
		state := "unfinished"
		if e.Running {
			state = "running"
		}
		rows = append(rows, []string{
			strconv.FormatUint(e.ID, 10), e.Started.Format(time.DateTime), e.User, state, e.Text,
			strconv.Itoa(e.Tables), strconv.Itoa(e.Done), strconv.Itoa(e.Failed), orNull(e.FirstError),
		})
	}
	text, number := mysql.TypeVarString, mysql.TypeLongLong
	s.client.writeRows([]string{"id", "started", "user", "state", "statement", "tables", "done", "failed", "first_error"},
		[]mysql.ColumnType{number, text, text, text, text, number, number, number, text}, rows)
}

// loggedTextMax is the length in bytes of the longest statement in a line of the log.
const loggedTextMax = 2000

// withoutTexts gives a statement for the log, with dots in place of its texts: some, as the passwords of federated tables, are
// secrets.
func withoutTexts(text string, m sqltext.Mode) string {
	var b strings.Builder
	l := sqltext.NewLexer(text, m)
	end := 0
	for {
		t := l.Next()
		if t.Kind == sqltext.KindEOF || b.Len() > loggedTextMax {
			return b.String()
		}
		if t.Pos > end && b.Len() > 0 {
			b.WriteByte(' ') // comments are left out too
		}
		end = t.End
		switch {
		case t.Kind == sqltext.KindString || t.Kind == sqltext.KindInvalid || text[t.Pos] == '"':
			b.WriteString("'...'")
		default:
			b.WriteString(text[t.Pos:min(t.End, t.Pos+loggedTextMax)])
		}
	}
}
