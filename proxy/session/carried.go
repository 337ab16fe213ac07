package session

import (
	"encoding/binary"
	"errors"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// carried is what the next process must know of a session to go on with it, as plain data. What the next process derives
// anew from its own configuration and from texts is not in it: account, schema, classes of statements, plans.
type carried struct {
	id              uint32
	adminOnly       bool
	user            string
	client          string // address with port; "" over a unix socket
	started, since  int64  // in nanoseconds since 1970
	salt            []byte // of the greeting, which COM_CHANGE_USER answers
	capabilities    mysql.Capability
	db              string
	autocommit      bool
	resolved        bool
	strict          bool
	flags           mysql.Capability
	collation       uint16
	mode            sqltext.Mode
	vars            []backend.Var
	nextTransaction []string

	rowCount     int64
	foundRows    uint64
	lastInsertID uint64
	warnings     []warning
	warningCount uint32
	errorCount   uint32

	nextStmtID, lastStmtID uint32
	stmts                  []carriedStmt
}

// carriedStmt is a prepared statement.
type carriedStmt struct {
	id           uint32
	text         string
	source       string // "" where it is the text
	given        string
	params       uint16
	types, kinds []byte
	sharded      bool
	db           string
	mode         sqltext.Mode
	// current says that its setting is that of the session; then the rest is empty.
	current      bool
	settingDB    string
	settingFlags mysql.Capability
	settingVars  []backend.Var
}

// errCarried says that a session's description cannot be read.
var errCarried = errors.New("malformed description of a session")

func appendUint64(b []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(b, v) }

func appendBools(b []byte, bits ...bool) []byte {
	var v byte
	for k, bit := range bits {
		if bit {
			v |= 1 << k
		}
	}
	return append(b, v)
}

func appendMode(b []byte, m sqltext.Mode) []byte {
	b = appendBools(b, m.ANSIQuotes, m.NoBackslashEscapes, m.PipesAsConcat, m.HighNotPrecedence, m.IgnoreSpace, m.MariaDB)
	b = mysql.AppendUint32(b, uint32(m.ServerVersion))
	return append(b, byte(m.Charset))
}

func appendVars(b []byte, vars []backend.Var) []byte {
	b = mysql.AppendLenenc(b, uint64(len(vars)))
	for _, v := range vars {
		b = mysql.AppendLenencString(mysql.AppendLenencString(b, v.Name), v.Value)
	}
	return b
}

// appendTo encodes a session. A change of what it writes needs another handover.Version.
func (c *carried) appendTo(b []byte) []byte {
	b = mysql.AppendUint32(b, c.id)
	b = appendBools(b, c.adminOnly, c.autocommit, c.resolved, c.strict)
	b = mysql.AppendLenencString(b, c.user)
	b = mysql.AppendLenencString(b, c.client)
	b = appendUint64(appendUint64(b, uint64(c.started)), uint64(c.since))
	b = mysql.AppendLenencString(b, c.salt)
	b = mysql.AppendUint32(mysql.AppendUint32(b, uint32(c.capabilities)), uint32(c.flags))
	b = mysql.AppendLenencString(b, c.db)
	b = mysql.AppendUint16(b, c.collation)
	b = appendMode(b, c.mode)
	b = appendVars(b, c.vars)
	b = mysql.AppendLenenc(b, uint64(len(c.nextTransaction)))
	for _, text := range c.nextTransaction {
		b = mysql.AppendLenencString(b, text)
	}
	b = appendUint64(appendUint64(appendUint64(b, uint64(c.rowCount)), c.foundRows), c.lastInsertID)
	b = mysql.AppendLenenc(b, uint64(len(c.warnings)))
	for _, w := range c.warnings {
		b = mysql.AppendUint16(mysql.AppendLenencString(b, w.Level), w.Code)
		b = mysql.AppendUint32(mysql.AppendLenencString(b, w.Message), uint32(w.row))
	}
	b = mysql.AppendUint32(mysql.AppendUint32(b, c.warningCount), c.errorCount)
	b = mysql.AppendUint32(mysql.AppendUint32(b, c.nextStmtID), c.lastStmtID)
	b = mysql.AppendLenenc(b, uint64(len(c.stmts)))
	for k := range c.stmts {
		b = c.stmts[k].appendTo(b)
	}
	return b
}

func (st *carriedStmt) appendTo(b []byte) []byte {
	b = mysql.AppendUint32(b, st.id)
	b = appendBools(b, st.sharded, st.current)
	b = mysql.AppendLenencString(mysql.AppendLenencString(mysql.AppendLenencString(b, st.text), st.source), st.given)
	b = mysql.AppendUint16(b, st.params)
	b = mysql.AppendLenencString(mysql.AppendLenencString(b, st.types), st.kinds)
	b = appendMode(mysql.AppendLenencString(b, st.db), st.mode)
	if st.current {
		return b
	}
	b = mysql.AppendUint32(mysql.AppendLenencString(b, st.settingDB), uint32(st.settingFlags))
	return appendVars(b, st.settingVars)
}

// carriedReader reads what appendTo wrote. A fault shows in its cursor's error.
type carriedReader struct {
	mysql.Cursor
	bad bool
}

func (r *carriedReader) text() string { return string(r.LenencBytes()) }

func (r *carriedReader) uint64() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// bools reads flags; those without a meaning must not be set.
func (r *carriedReader) bools(bits ...*bool) {
	v := r.Uint8()
	for k, bit := range bits {
		*bit = v&(1<<k) != 0
	}
	r.bad = r.bad || v>>len(bits) != 0
}

// list reads a list by its items. What is announced takes no memory that what has come does not justify.
func (r *carriedReader) list(item func()) {
	for n := r.Lenenc(); n > 0 && r.ok(); n-- {
		item()
	}
}

func (r *carriedReader) mode() (m sqltext.Mode) {
	r.bools(&m.ANSIQuotes, &m.NoBackslashEscapes, &m.PipesAsConcat, &m.HighNotPrecedence, &m.IgnoreSpace, &m.MariaDB)
	m.ServerVersion = int(r.Uint32())
	m.Charset = sqltext.Charset(r.Uint8())
	r.bad = r.bad || m.Charset > sqltext.GB18030
	return m
}

func (r *carriedReader) vars() (vars []backend.Var) {
	r.list(func() {
		v := backend.Var{Name: r.text(), Value: r.text()}
		r.bad = r.bad || v.Name == ""
		vars = append(vars, v)
	})
	return vars
}

// ok tells whether nothing was wrong so far.
func (r *carriedReader) ok() bool { return !r.bad && r.Err() == nil }

// decode reads what appendTo wrote, and nothing else: whatever it takes is fit to be gone on with.
func (c *carried) decode(b []byte) error {
	r := &carriedReader{Cursor: mysql.NewCursor(b)}
	c.id = r.Uint32()
	r.bools(&c.adminOnly, &c.autocommit, &c.resolved, &c.strict)
	c.user, c.client = r.text(), r.text()
	c.started, c.since = int64(r.uint64()), int64(r.uint64())
	c.salt = append([]byte(nil), r.LenencBytes()...)
	c.capabilities, c.flags = mysql.Capability(r.Uint32()), mysql.Capability(r.Uint32())
	c.db, c.collation, c.mode, c.vars = r.text(), r.Uint16(), r.mode(), r.vars()
	r.list(func() { c.nextTransaction = append(c.nextTransaction, r.text()) })
	c.rowCount, c.foundRows, c.lastInsertID = int64(r.uint64()), r.uint64(), r.uint64()
	r.list(func() {
		c.warnings = append(c.warnings, warning{Level: r.text(), Code: r.Uint16(), Message: r.text(), row: int(r.Uint32())})
	})
	c.warningCount, c.errorCount = r.Uint32(), r.Uint32()
	c.nextStmtID, c.lastStmtID = r.Uint32(), r.Uint32()
	seen := make(map[uint32]bool)
	r.list(func() {
		st := r.stmt()
		r.bad = r.bad || seen[st.id] || st.id == 0 || st.id == lastStmtID
		seen[st.id] = true
		c.stmts = append(c.stmts, st)
	})
	if !r.ok() || r.Len() > 0 || c.id == 0 {
		return errCarried
	}
	return nil
}

func (r *carriedReader) stmt() (st carriedStmt) {
	st.id = r.Uint32()
	r.bools(&st.sharded, &st.current)
	st.text, st.source, st.given, st.params = r.text(), r.text(), r.text(), r.Uint16()
	st.types = append([]byte(nil), r.LenencBytes()...)
	st.kinds = append([]byte(nil), r.LenencBytes()...)
	st.db, st.mode = r.text(), r.mode()
	// Executions index kinds by parameter, and look how many types there are.
	n := int(st.params)
	r.bad = r.bad || len(st.types)%2 != 0 || len(st.kinds) != 0 && len(st.kinds) != n
	if !st.current {
		st.settingDB, st.settingFlags = r.text(), mysql.Capability(r.Uint32())
		st.settingVars = r.vars()
	}
	return st
}
