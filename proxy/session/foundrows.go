package session

import (
	"strconv"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// FOUND_ROWS() speaks of the last statement that found rows, not of the last statement: changes, SET, transactions, errors and some
// kinds of SHOW leave it as it is, while a change with a query in it, DO and UPDATE of MySQL do not. The rules are those of MariaDB
// 10.11 and MySQL 9.7, found by trying. MySQL manual: "Information Functions".

// foundRows is what FOUND_ROWS() gives.
type foundRows struct {
	n uint64
	// on is the held connection if that alone knows, else nil.
	on *backend.Conn
	// doubt says that the statement under way found rows which its answer does not tell.
	doubt bool
	// fresh says that the statement under way gave n by its answer, and same is the held connection while that gives n, too.
	fresh bool
	same  *backend.Conn
	// hidden is the connection on which a SET has found rows that MySQL tells of behind the next change only, else nil.
	hidden *backend.Conn
}

// findsUnseen tells whether a change may find rows that its answer does not tell: by a query in it, or of several tables.
func findsUnseen(class sqltext.Class, text string) bool {
	switch class {
	case sqltext.Update, sqltext.Delete:
		return mentionsFast(text, "select") || severalTables(text)
	}
	return false
}

// severalTables tells whether a change may be of several tables.
func severalTables(text string) bool {
	return mentionsFast(text, "join") || mentionsFast(text, "using") || strings.Contains(beforeSet(text), ",") || deletesBefore(text)
}

// beforeSet is what a change has ahead of SET, or of WHERE: its tables.
func beforeSet(text string) string {
	for _, word := range []string{"set", "where"} {
		for k := 0; k+len(word) < len(text); k++ {
			if (text[k]|0x20 == word[0]) && strings.EqualFold(text[k:k+len(word)], word) {
				return text[:k]
			}
		}
	}
	return text
}

// deletesBefore tells a DELETE that names its tables ahead of FROM.
func deletesBefore(text string) bool {
	f := strings.Fields(beforeSet(text))
	for k := 1; k < len(f) && strings.EqualFold(f[0], "delete"); k++ {
		switch strings.ToLower(f[k]) {
		case "low_priority", "quick", "ignore":
			continue
		case "from":
			return false
		}
		return true
	}
	return false
}

// mentionsFast reports whether a text has a word of lower-case letters. In a long text it finds those in lower or upper case, or capitalized.
func mentionsFast(text, lower string) bool {
	if len(text) < 256 {
		return mentions(text, lower)
	}
	return strings.Contains(text, lower) || strings.Contains(text, strings.ToUpper(lower)) || strings.Contains(text, strings.ToUpper(lower[:1])+lower[1:])
}

// showLeavesFound are the words behind SHOW, and SESSION, GLOBAL, FULL and their like, that leave FOUND_ROWS() as it is.
var showLeavesFound = map[string]bool{
	"grants": true, "create": true, "privileges": true, "profiles": true, "binary": true, "binlog": true, "master": true, "slave": true, "replica": true,
	"replicas": true, "relaylog": true, "processlist": true, "engine": true, "authors": true, "contributors": true, "warnings": true, "errors": true,
	"explain": true, "parse_tree": true, "all": true,
}

// showFinds tells whether a SHOW tells FOUND_ROWS() of its rows.
func showFinds(text string, m sqltext.Mode) bool {
	l := sqltext.NewLexer(text, m)
	l.Next()
	for {
		t := l.Next()
		switch word := strings.ToLower(text[t.Pos:t.End]); word {
		case "full", "extended", "session", "local", "global":
		default:
			return !showLeavesFound[word]
		}
	}
}

// observeFound notes how many rows a statement has found, by its answer.
func (s *Session) observeFound(p backend.Pooled, q *query, res *mysql.Response) {
	f := &s.state.found
	f.fresh = false
	info, text := &q.info, q.text
	switch info.Class {
	case sqltext.Execute, sqltext.SetStatement:
		if st, ok, certain := s.executed(q); ok && certain {
			info, text = &st.info, st.text
		} else if in := q.carried(); in != nil {
			info, text = &in.Info, in.Text
		}
	}
	class := info.Class
	switch class {
	case sqltext.Call, sqltext.Execute, sqltext.CompoundBegin, sqltext.SetStatement, sqltext.Other:
		f.doubt = true
		return
	case sqltext.Explain:
		f.doubt = f.doubt || info.Has(sqltext.Analyze) || f.hidden == p.Conn
		return
	}
	if res.Kind == mysql.ResponseRows {
		switch class {
		case sqltext.Select, sqltext.With:
			if info.Has(sqltext.CalcFoundRows) {
				f.doubt = true
				return
			}
		case sqltext.Show:
			if !showFinds(text, s.mode()) {
				return
			}
		case sqltext.ShowWarnings, sqltext.ShowErrors:
			if !mentions(text, "count") {
				return
			}
		case sqltext.Table, sqltext.Values, sqltext.Describe:
		default:
			return
		}
		f.found(res.Rows)
		return
	}
	maria := s.mode().MariaDB
	switch class {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values: // INTO
		if f.found(res.OK.AffectedRows); maria {
			f.doubt = true // MariaDB finds none where there is no table
		}
	case sqltext.Insert, sqltext.Replace:
		if len(res.OK.Info) > 0 && (mentionsFast(text, "select") || mentionsFast(text, "table")) {
			f.foundBy(res.OK.Info)
			f.doubt = f.doubt || maria // which finds no row where there is no table
		} else if f.hidden == p.Conn || mentionsFast(text, "select") && mentionsFast(text, "from") {
			f.doubt = true // by a query for a value
		}
	case sqltext.DDL, sqltext.CreateTemporary:
		if maria && len(res.OK.Info) > 0 && mentionsFast(text, "select") {
			f.foundBy(res.OK.Info)
		}
	case sqltext.Update, sqltext.Delete:
		if findsUnseen(class, text) {
			f.doubt = !maria || class == sqltext.Update || severalTables(text)
		} else if class == sqltext.Update && !maria {
			f.foundBy(res.OK.Info)
		} else if f.hidden == p.Conn {
			f.doubt = true
		}
	case sqltext.Do, sqltext.Set:
		if maria && mentionsFast(text, "select") && hasQuery(text, s.mode()) {
			f.doubt = true
		} else if !maria && class == sqltext.Do {
			f.found(1)
		} else if mentionsFast(text, "select") && hasQuery(text, s.mode()) {
			f.hidden = p.Conn
		}
	}
}

// badValues are the codes of errors by which a row that a query has made is not inserted. MySQL manual: "Server Error Message Reference".
var badValues = map[uint16]bool{1048: true, 1062: true, 1264: true, 1265: true, 1292: true, 1366: true, 1406: true}

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

// failedFound notes what a failed change leaves for FOUND_ROWS(): 0 on MariaDB behind an INSERT of a query without tables, else what was there.
func (s *Session) failedFound(q *query, e *mysql.SQLError) {
	s.state.found.fresh = false
	switch q.info.Class {
	case sqltext.Insert, sqltext.Replace:
		if s.mode().MariaDB && badValues[e.Code] && mentionsFast(q.text, "select") && !mentionsFast(q.text, "from") {
			s.state.found.found(0)
		}
	}
}

// found notes a number of rows found.
func (f *foundRows) found(n uint64) { *f = foundRows{n: n, fresh: true} }

// known notes, behind a statement, whether the held connection gives what the session does: last says that it has run the statement, and
// nothing since.
func (f *foundRows) known(held *backend.Conn, last bool) {
	switch {
	case !last:
		f.same = nil
	case f.fresh:
		f.same = held
	}
	if f.fresh = false; held == nil {
		f.hidden = nil
	}
}

// foundBy is found with the first number in the text of an OK packet: "Rows matched: 3 …", "Records: 3 …".
func (f *foundRows) foundBy(info []byte) {
	_, text, _ := strings.Cut(alias(info), ": ")
	text, _, _ = strings.Cut(text, " ")
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		f.found(n)
	}
}

// settleFound finds out what FOUND_ROWS() is, if the connection alone knows, before it goes to others; one that is kept goes on
// knowing.
func (s *Session) settleFound(p backend.Pooled, kept bool) error {
	f := &s.state.found
	if !f.doubt && (f.on != p.Conn || kept) {
		return nil
	}
	f.hidden = nil
	if kept {
		f.on, f.doubt = p.Conn, false
		return nil
	}
	f.on, f.doubt = nil, false
	return f.ask(p.Conn)
}

// ask takes what FOUND_ROWS() is on a connection.
func (f *foundRows) ask(c *backend.Conn) error {
	return c.Rows("SELECT FOUND_ROWS() LIMIT 1", 1, func(row []string) { f.n, _ = strconv.ParseUint(row[0], 10, 64) })
}

// foundAtReset is what FOUND_ROWS() goes on giving after COM_RESET_CONNECTION, which leaves it as it is on servers. The held
// connection is asked if that alone knows.
func (s *Session) foundAtReset() uint64 {
	f := s.state.found
	if p := s.held; p.Pooled != nil && f.on == p.Conn {
		p.Conn.Net.SetDeadline(time.Now().Add(cleanupTimeout))
		if f.ask(p.Conn) != nil {
			s.drop(p)
		}
	}
	return f.n
}

// foundByChange notes what a change of several shards has found: MySQL counts the rows that an UPDATE matched.
func (s *Session) foundByChange(q *query, total *mysql.OKPacket) {
	if q.info.Class == sqltext.Update && !s.mode().MariaDB {
		s.state.found.foundBy(total.Info)
	}
}
