package state

import (
	"bytes"
	"strconv"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// FOUND_ROWS() speaks of the last statement that found rows, not of the last statement: changes, SET, transactions, errors and some
// kinds of SHOW leave it as it is, while a change with a query in it, DO and UPDATE of MySQL do not. The rules are those of MariaDB
// 10.11 and MySQL 9.7, found by trying. MySQL manual: "Information Functions".

// FoundRows is what FOUND_ROWS() gives. Connections are compared, and asked where that is said.
type FoundRows struct {
	n uint64
	// on is the held connection if that alone knows, else nil.
	on *backend.Conn
	// doubt says that the statement under way found rows which its answer does not tell.
	doubt bool
	// fresh says that the statement under way gave n by its answer, and same is the held connection while that gives n, too.
	fresh bool
	// lost says that a connection like hidden went to others, and unknown that a change came behind that: nobody knows what FOUND_ROWS() gives.
	lost, unknown bool
	same          *backend.Conn
	// hidden is the connection on which a SET has found rows that MySQL tells of behind the next change only, else nil.
	hidden *backend.Conn
}

// FoundRowsOf returns a FoundRows that gives n, whatever statement that is of.
func FoundRowsOf(n uint64) FoundRows { return FoundRows{n: n} }

// Rows returns what FOUND_ROWS() gives; an earlier value while OnlyOn has a connection.
func (f *FoundRows) Rows() uint64 { return f.n }

// Found notes the number of rows that the statement under way found, by its answer.
func (f *FoundRows) Found(n uint64) { *f = FoundRows{n: n, fresh: true} }

// Lose notes that the statement under way has found rows whose number nobody has told.
func (f *FoundRows) Lose() { *f = FoundRows{unknown: true} }

// FoundBy notes the number of rows that the statement under way found, which is the first one in the text of an OK packet: "Rows matched: 3 …", "Records: 3 …".
func (f *FoundRows) FoundBy(info []byte) {
	_, text, _ := bytes.Cut(info, []byte(": "))
	text, _, _ = bytes.Cut(text, []byte(" "))
	if n, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		f.Found(n)
	}
}

// OnlyOn returns the held connection that alone knows what FOUND_ROWS() gives; nil if there is none.
func (f *FoundRows) OnlyOn() *backend.Conn { return f.on }

// Unknown reports whether nobody knows what FOUND_ROWS() gives: a change came behind a SET to what a query gives, of which MySQL tells then, and
// the connection of the SET is not there any more.
func (f *FoundRows) Unknown() bool { return f.unknown }

// Gives reports whether FOUND_ROWS() gives on the held connection what it is to give.
func (f *FoundRows) Gives(held *backend.Conn) bool { return held == f.on || held == f.same }

// Overwritten notes that the held connection has been asked for what is not the client's: it gives something else now.
func (f *FoundRows) Overwritten() { f.same = nil }

// Told notes that the statement under way has found no rows but those that its answer told.
func (f *FoundRows) Told() { f.doubt = false }

// Known notes, behind a statement, whether the held connection gives what the session does: last says that it has run the statement, and
// nothing since. held is nil without one.
func (f *FoundRows) Known(held *backend.Conn, last bool) {
	switch {
	case !last:
		f.same = nil
	case f.fresh:
		f.same = held
	}
	if f.fresh = false; f.hidden != held {
		f.loseHidden()
	}
}

// loseHidden notes that the connection on which a SET has found rows, if there is one, does not tell of them any more.
func (f *FoundRows) loseHidden() {
	f.lost = f.lost || f.hidden != nil
	f.hidden = nil
}

// Settle finds out what FOUND_ROWS() is, if c alone knows, before it goes to others; one that is kept goes on knowing. An error is of the
// question: what FOUND_ROWS() is nobody knows then.
func (f *FoundRows) Settle(c *backend.Conn, kept bool) error {
	if !kept && f.hidden == c {
		f.loseHidden()
	}
	if !f.doubt && (f.on != c || kept) {
		return nil
	}
	f.hidden = nil
	if kept {
		f.on, f.doubt = c, false
		return nil
	}
	f.on, f.doubt = nil, false
	return f.Ask(c)
}

// Ask takes what FOUND_ROWS() is on a connection.
func (f *FoundRows) Ask(c *backend.Conn) error {
	return c.Rows("SELECT FOUND_ROWS() LIMIT 1", 1, func(row []string) { f.n, _ = strconv.ParseUint(row[0], 10, 64) })
}

// Answered notes how many rows a statement on c has found, by a response that is no error. info and text are those of the statement that it
// has carried out, if they are known of one that carries out another; m is how the text is read.
func (f *FoundRows) Answered(c *backend.Conn, info *sqltext.Info, text string, m sqltext.Mode, res *mysql.Response) {
	f.fresh = false
	class := info.Class
	switch class {
	case sqltext.Call, sqltext.Execute, sqltext.CompoundBegin, sqltext.SetStatement, sqltext.Other:
		f.doubt = true
		return
	case sqltext.Explain:
		f.doubt = f.doubt || info.Has(sqltext.Analyze) || f.hidden == c
		return
	}
	if res.Kind == mysql.ResponseRows {
		f.answeredRows(info, text, m, res.Rows)
		return
	}
	switch class {
	case sqltext.Select, sqltext.With, sqltext.Table, sqltext.Values: // INTO
		if f.Found(res.OK.AffectedRows); m.MariaDB {
			f.doubt = true // MariaDB finds none where there is no table
		}
	case sqltext.Insert, sqltext.Replace:
		f.changed(c)
		if len(res.OK.Info) > 0 && (mentions(text, "select") || mentions(text, "table")) {
			f.FoundBy(res.OK.Info)
			f.doubt = f.doubt || m.MariaDB // which finds no row where there is no table
		} else if f.hidden == c || mentions(text, "select") && mentions(text, "from") {
			f.doubt = true // by a query for a value
		}
	case sqltext.DDL, sqltext.CreateTemporary:
		if m.MariaDB && len(res.OK.Info) > 0 && mentions(text, "select") {
			f.FoundBy(res.OK.Info)
		}
	case sqltext.Update, sqltext.Delete:
		f.changed(c)
		if FindsUnseen(class, text) {
			f.doubt = !m.MariaDB || class == sqltext.Update || severalTables(text)
		} else if class == sqltext.Update && !m.MariaDB {
			f.FoundBy(res.OK.Info)
		} else if f.hidden == c {
			f.doubt = true
		}
	case sqltext.Do, sqltext.Set:
		if m.MariaDB && hasQuery(text, m) {
			f.doubt = true
		} else if !m.MariaDB && class == sqltext.Do {
			f.Found(1)
		} else if hasQuery(text, m) {
			f.hidden = c
		}
	}
}

// changed notes a change on c: MySQL tells of what a SET has found behind that alone, where the SET has run.
func (f *FoundRows) changed(c *backend.Conn) {
	f.unknown = f.unknown || f.lost || f.hidden != nil && f.hidden != c
}

// answeredRows notes how many rows a statement has found that was answered by rows.
func (f *FoundRows) answeredRows(info *sqltext.Info, text string, m sqltext.Mode, rows uint64) {
	switch info.Class {
	case sqltext.Select, sqltext.With:
		if info.Has(sqltext.CalcFoundRows) {
			f.doubt = true
			return
		}
	case sqltext.Show:
		if !showFinds(text, m) {
			return
		}
	case sqltext.ShowWarnings, sqltext.ShowErrors:
		if !sqltext.Mentions(text, "count") {
			return
		}
	case sqltext.Table, sqltext.Values, sqltext.Describe:
	default:
		return
	}
	f.Found(rows)
}

// badValues are the codes of errors by which a row that a query has made is not inserted. MySQL manual: "Server Error Message Reference".
var badValues = map[uint16]bool{1048: true, 1062: true, 1264: true, 1265: true, 1292: true, 1366: true, 1406: true}

// Failed notes what a failed change leaves for FOUND_ROWS(): 0 on MariaDB behind an INSERT of a query without tables, else what was there.
// code is that of its error.
func (f *FoundRows) Failed(class sqltext.Class, text string, mariaDB bool, code uint16) {
	f.fresh = false
	switch class {
	case sqltext.Insert, sqltext.Replace:
		if mariaDB && badValues[code] && mentions(text, "select") && !mentions(text, "from") {
			f.Found(0)
		}
	}
}
