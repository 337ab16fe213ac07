package sqltext

import (
	"strconv"
	"strings"
)

// KillStmt is KILL of a connection or its statement.
type KillStmt struct {
	Query bool   // the statement only
	ID    uint64 // if Expr is ""
	Expr  string // what gives the id, if it is no number
}

// killWords are what the expression of a KILL may have in it: it reads nothing but the session, and has no effects.
var killWords = map[string]bool{
	"null": true, "true": true, "false": true, "div": true, "mod": true, "connection_id": true, "abs": true, "if": true, "ifnull": true, "coalesce": true,
	"greatest": true, "least": true, "floor": true, "round": true, "cast": true, "as": true, "signed": true, "unsigned": true, "integer": true, "char": true,
}

// ParseKill takes KILL [CONNECTION | QUERY] id apart; in MariaDB KILL [HARD | SOFT] too. Forms that name a user, a query
// id, or an expression that reads more than the session are not understood. MySQL manual: "KILL Statement".
func ParseKill(sql string, m Mode) (KillStmt, bool) {
	p := newParser(sql, m)
	if !p.words("kill") {
		return KillStmt{}, false
	}
	if m.MariaDB {
		p.oneOf("hard", "soft")
	}
	k := KillStmt{Query: p.oneOf("connection", "query") == "query"}
	from, to, plain := p.tok.Pos, p.tok.Pos, p.tok.Kind == KindNumber
	depth := 0
	for p.tok.Kind != KindEOF && p.tok.Kind != KindSemicolon {
		depth += p.nesting()
		if depth < 0 || depth == 0 && p.isOp(",") || !p.killToken() {
			return KillStmt{}, false
		}
		plain = plain && p.tok.Pos == from
		to = p.tok.End
		p.next()
	}
	if from == to || depth > 0 || !p.done() {
		return KillStmt{}, false
	}
	var err error
	if k.ID, err = strconv.ParseUint(sql[from:to], 10, 64); err != nil || !plain {
		k.ID, k.Expr = 0, sql[from:to]
	}
	return k, true
}

// killToken reports whether the token at hand may be a part of the expression of a KILL.
func (p *parser) killToken() bool {
	switch p.tok.Kind {
	case KindNumber, KindHex, KindString, KindUserVar:
		return true
	case KindSysVar:
		return foldEqual(p.text(), "@@pseudo_thread_id")
	case KindWord:
		return killWords[strings.ToLower(p.text())]
	case KindOp:
		return p.text() != ":="
	}
	return false
}

// ParseUse takes USE db apart and returns the name without quotes. MySQL manual: "USE Statement".
func ParseUse(sql string, m Mode) (db string, ok bool) {
	p := newParser(sql, m)
	if !p.words("use") {
		return "", false
	}
	if db, ok = p.ident(); !ok || !p.done() {
		return "", false
	}
	return db, true
}

// ExecuteStmt is EXECUTE name USING values.
type ExecuteStmt struct {
	Name  string   // lower case, without quotes
	Using []string // as they are written: user variables, in MariaDB any expressions
}

// ParseExecute takes EXECUTE apart. MySQL manual: "EXECUTE Statement"; MariaDB Knowledge Base: "EXECUTE Statement".
func ParseExecute(sql string, m Mode) (ExecuteStmt, bool) {
	p := newParser(sql, m)
	if !p.words("execute") || m.MariaDB && p.is("immediate") {
		return ExecuteStmt{}, false
	}
	name, ok := p.ident()
	s := ExecuteStmt{Name: strings.ToLower(name)}
	if ok {
		s.Using, ok = p.using()
	}
	if !ok || !p.done() {
		return ExecuteStmt{}, false
	}
	return s, true
}

// ParseExecuteImmediate returns the values of the parameters of MariaDB's EXECUTE IMMEDIATE as they are written. MariaDB Knowledge Base: "EXECUTE
// IMMEDIATE".
func ParseExecuteImmediate(sql string, m Mode) (using []string, ok bool) {
	p := newParser(sql, m)
	if !m.MariaDB || !p.words("execute", "immediate") {
		return nil, false
	}
	for depth := 0; p.tok.Kind != KindEOF && p.tok.Kind != KindSemicolon && (depth > 0 || !p.is("using")); p.next() {
		depth += p.nesting()
	}
	if using, ok = p.using(); !ok || !p.done() {
		return nil, false
	}
	return using, true
}

// using passes over USING and the values behind it, if that comes next, and returns these as they are written.
func (p *parser) using() (list []string, ok bool) {
	if !p.words("using") {
		return nil, true
	}
	for more := true; more; more = p.op(",") {
		from, to, edges, n, depth := p.tok.Pos, p.tok.Pos, p.edges, 0, 0
		for ; p.tok.Kind != KindEOF && p.tok.Kind != KindSemicolon && (depth > 0 || !p.isOp(",")); p.next() {
			if n++; p.edges != edges || !p.mode.MariaDB && (p.tok.Kind != KindUserVar || n > 1) {
				return nil, false
			}
			depth += p.nesting()
			to = p.tok.End
		}
		if n == 0 {
			return nil, false
		}
		list = append(list, p.sql[from:to])
	}
	return list, true
}

// ParseDeallocate takes DEALLOCATE PREPARE and DROP PREPARE apart and returns the name in lower case, without quotes.
// MySQL manual: "DEALLOCATE PREPARE Statement".
func ParseDeallocate(sql string, m Mode) (name string, ok bool) {
	p := newParser(sql, m)
	if p.oneOf("deallocate", "drop") == "" || !p.words("prepare") {
		return "", false
	}
	if name, ok = p.ident(); !ok || !p.done() {
		return "", false
	}
	return strings.ToLower(name), true
}

// ShowWhat is what ParseShow understands.
type ShowWhat uint8

// The statements.
const (
	Warnings      ShowWhat = iota // SHOW WARNINGS
	Errors                        // SHOW ERRORS
	CountWarnings                 // SHOW COUNT(*) WARNINGS
	CountErrors                   // SHOW COUNT(*) ERRORS
	Processlist                   // SHOW [FULL] PROCESSLIST
)

// ShowStmt is a SHOW that speaks of the session or of all sessions.
type ShowStmt struct {
	What          ShowWhat
	Full          bool
	Limit, Offset int // in rows, -1 for none
}

// ParseShow takes SHOW WARNINGS, SHOW ERRORS and SHOW PROCESSLIST apart; others are not understood. MySQL manual: "SHOW
// WARNINGS Statement", "SHOW ERRORS Statement", "SHOW PROCESSLIST Statement".
func ParseShow(sql string, m Mode) (ShowStmt, bool) {
	p := newParser(sql, m)
	s := ShowStmt{Limit: -1, Offset: -1}
	if !p.words("show") {
		return ShowStmt{}, false
	}
	ok := true
	switch {
	case p.words("full", "processlist"):
		s.What, s.Full = Processlist, true
	case p.words("processlist"):
		s.What = Processlist
	case p.words("count"):
		s.What = CountWarnings
		ok = p.op("(") && p.op("*") && p.op(")")
		if !p.words("warnings") {
			s.What = CountErrors
			ok = ok && p.words("errors")
		}
	case p.words("warnings"):
		s.What = Warnings
		ok = p.limit(&s)
	case p.words("errors"):
		s.What = Errors
		ok = p.limit(&s)
	default:
		ok = false
	}
	if !ok || !p.done() {
		return ShowStmt{}, false
	}
	return s, true
}

// limit reads [LIMIT [offset,] rows | LIMIT rows OFFSET offset].
func (p *parser) limit(s *ShowStmt) bool {
	if !p.words("limit") {
		return true
	}
	first, ok := p.rows()
	if !ok {
		return false
	}
	s.Limit = first
	switch {
	case p.op(","):
		s.Offset = first
		s.Limit, ok = p.rows()
	case p.words("offset"):
		s.Offset, ok = p.rows()
	}
	return ok
}

func (p *parser) rows() (int, bool) {
	n, err := strconv.Atoi(p.text())
	if p.tok.Kind != KindNumber || err != nil {
		return 0, false
	}
	p.next()
	return n, true
}
