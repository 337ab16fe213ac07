package session

import (
	"encoding/hex"
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/mysql/value"
	"kingshard/proxy/session/state"
	"kingshard/proxy/txn"
)

// readWithin notes what the statement contains, where it is of a class that may contain others.
func (q *query) readWithin(m sqltext.Mode) {
	q.within = nil
	if q.info.Contains() {
		c := sqltext.ContentsOf(q.text, m)
		q.within = &c
	}
}

// unknown tells that the statement carries out what cannot be read.
func (q *query) unknown() bool {
	return q.within != nil && (q.within.Unread || slices.ContainsFunc(q.within.Dynamic, func(d sqltext.Dynamic) bool { return !d.Later && !(d.Direct && q.known) }))
}

// learnText has the server compute the text of a PREPARE or EXECUTE IMMEDIATE from a variable or another expression, so that it is known
// before it runs. A statement that prepares what an expression gives gets the text in its place: to be computed once more it might be
// another one. MySQL manual: "PREPARE Statement"; MariaDB Knowledge Base: "EXECUTE IMMEDIATE".
func (ri *rights) learnText(q *query) error {
	if q.within == nil || len(q.within.Dynamic) != 1 || !q.within.Dynamic[0].Direct {
		return nil
	}
	if err := ri.leases.learnCharset(); err != nil {
		return err
	}
	charset := ri.asciiCharset()
	if charset == "" {
		return refuse("the text of PREPARE and EXECUTE IMMEDIATE must be a literal while character_set_client or collation_connection is of a set like gbk or utf16")
	}
	d := q.within.Dynamic[0]
	expr := q.within.Text[d.Pos:d.End]
	variable := isUserVariable(expr, ri.client.mode())
	if !variable && !ri.client.mode().MariaDB {
		return mysql.NewSQLError(mysql.ERParse, "You have an error in your SQL syntax; PREPARE takes a string or a user variable, near '%.80s'", expr)
	}
	if sqltext.HasWord(expr, ri.client.mode(), "select", "table", "values", "with") {
		return mysql.NewSQLError(mysql.ERSubqueriesNotSupported, "%s does not support subqueries or stored functions", "EXECUTE IMMEDIATE")
	}
	evaluated := query{text: "DO (" + expr + ")"}
	evaluated.info = sqltext.Classify(evaluated.text, ri.client.mode())
	if err := ri.permit(evaluated.text, &evaluated.info); err != nil {
		return err
	}
	if err := ri.inspect(&evaluated, false); err != nil {
		return err
	}
	text, question := "NULL", "SELECT HEX(CONVERT(("+expr+") USING "+charset+")) LIMIT 1"
	if variable {
		err := ri.leases.ask(question, func(_ []mysql.ColumnDefinition41, cells []value.Cell) {
			if cells[0] != nil {
				text = string(cells[0])
			}
		})
		if err != nil {
			return err
		}
	} else if err := ri.compute(q, &evaluated, question, func(row []string) { text = row[0] }); err != nil {
		return err
	}
	known, literal := "", "NULL"
	if text != "NULL" {
		b, err := hex.DecodeString(text)
		if err != nil {
			return refuse("the text of PREPARE or EXECUTE IMMEDIATE cannot be read: give it as a literal")
		}
		known, literal = string(b), "_"+charset+" x'"+text+"'"
	}
	c, m := q.within, ri.client.mode()
	if m.MariaDB {
		q.text = c.Text[:d.Pos] + literal + c.Text[d.End:]
		hint := q.info.NodeHint
		q.info = sqltext.Classify(q.text, m)
		q.info.NodeHint = hint
	}
	q.known, q.value = true, known
	c.Know(known, m)
	return nil
}

// compute has the server that q is to run on compute an expression, of which a DO was looked at, by a question.
func (ri *rights) compute(q, evaluated *query, question string, row func([]string)) error {
	ri.client.txn.Pin(txn.PinPrepare) // what the expression leaves behind is left on the connection that the statement runs on
	p, err := ri.leases.acquire(ri.routing.route(q))
	if err != nil {
		return err
	}
	if err := ri.exchanges.clearDiagnostics(p, q); err != nil {
		return ri.leases.unprepared(p, err)
	}
	ri.exchanges.pinFor(evaluated.text, &evaluated.info)
	p.Conn.Marked = true
	if err := ri.client.state.Found.Settle(p.Conn, false); err != nil {
		return ri.leases.lost(p, err)
	}
	err = p.Conn.Rows(question, 1, row)
	if e, ok := err.(*mysql.SQLError); ok {
		ri.leases.release(p)
		return e
	}
	if err != nil {
		return ri.leases.lost(p, err)
	}
	ri.leases.release(p)
	ri.client.txn.LastOnHeld = false
	return nil
}

// isUserVariable reports whether an expression is a user variable and nothing else.
func isUserVariable(expr string, m sqltext.Mode) bool {
	l := sqltext.NewLexer(expr, m)
	return l.Next().Kind == sqltext.KindUserVar && l.Next().Kind == sqltext.KindEOF
}

// asciiCharset is the character set in which servers read texts that are prepared, "" where it is not one in which ASCII means itself
// and nothing else.
func (ri *rights) asciiCharset() string {
	client := strings.Trim(ri.client.state.Value("character_set_client"), "'")
	connection, _, _ := strings.Cut(strings.Trim(ri.client.state.Value("collation_connection"), "'"), "_")
	for _, name := range [...]string{client, connection} {
		switch state.TextCharset(name) {
		case sqltext.GBK, sqltext.SJIS, sqltext.Big5, sqltext.GB18030:
			return ""
		}
		switch name {
		case "", "ucs2", "utf16", "utf16le", "utf32", "swe7", "gb2312", "euckr", "ujis", "eucjpms":
			return ""
		}
	}
	return client
}

// modesElsewhere are the ways, other than m, in which the user's servers read a text, of which versions of a server make something else
// if differs.
func (ri *rights) modesElsewhere(m sqltext.Mode, differs bool) (list []sqltext.Mode) {
	add := func(maria bool, version int) {
		other := m
		if other.MariaDB = maria; differs || maria != m.MariaDB {
			other.ServerVersion = int32(version)
		}
		if other != m && !slices.Contains(list, other) {
			list = append(list, other)
		}
	}
	unknown := !ri.client.state.Resolved()
	see := func(i *backend.Instance) {
		if info := i.Info(); info != nil {
			add(info.MariaDB, info.Number)
		} else if differs {
			unknown = true
		}
	}
	for _, n := range ri.client.schema.Nodes {
		see(n.Primary)
		for _, r := range n.Replicas {
			see(r)
		}
	}
	if unknown {
		for _, version := range [...]int{oldest, newest} {
			add(false, version)
			add(true, version)
		}
	}
	return list
}

// sets tells whether a statement within may change how later texts are read.
func (q *query) sets() bool {
	if q.within == nil {
		return false
	}
	return q.unknown() || slices.ContainsFunc(q.within.Inner, func(in sqltext.Inner) bool {
		switch in.Info.Class {
		case sqltext.Set:
			return !in.Assigned && !in.Later
		case sqltext.Call, sqltext.Other:
			return !in.Later
		}
		return false
	})
}

// executesSet tells whether the statement has carried out one that may change how texts are read.
func (xs *exchanges) executesSet(q *query) bool {
	if q.info.Class == sqltext.Prepare {
		return false
	}
	if q.sets() {
		return true
	}
	named := func(text string, m sqltext.Mode) bool {
		ex, ok := sqltext.ParseExecute(text, m)
		if !ok {
			return false
		}
		st, known := xs.client.textStmts[ex.Name]
		return !known || st.sets || xs.client.txn.Pins.Has(txn.PinStored)
	}
	if named(q.text, xs.client.mode()) {
		return true
	}
	return slices.ContainsFunc(q.within.Inner, func(in sqltext.Inner) bool { return in.Info.Class == sqltext.Execute && named(in.Text, in.Mode) })
}
