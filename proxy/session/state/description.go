package state

import (
	"encoding/binary"
	"errors"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// Description is what the next process must know of a session to go on with it, as plain data. What the next process derives
// anew from its own configuration and from texts is not in it: account, schema, classes of statements, plans.
type Description struct {
	ID              uint32
	AdminOnly       bool
	User            string
	Client          string // address with port; "" over a unix socket
	Started, Since  int64  // in nanoseconds since 1970
	Salt            []byte // of the greeting, which COM_CHANGE_USER answers
	Capabilities    mysql.Capability
	DB              string
	Autocommit      bool
	Resolved        bool
	Strict          bool
	Flags           mysql.Capability
	Collation       uint16
	Mode            sqltext.Mode
	Vars            []backend.Var
	NextTransaction []string

	RowCount     int64
	FoundRows    uint64
	LastInsertID uint64
	Warnings     []Warning
	WarningCount uint32
	ErrorCount   uint32

	NextStmtID, LastStmtID uint32
	Stmts                  []StmtDescription
	// GTIDs are what replicas must have that serve the session, as @@ks_gtid tells it; "" is nothing.
	GTIDs string
}

// StmtDescription is a prepared statement.
type StmtDescription struct {
	ID           uint32
	Text         string
	Source       string // "" where it is the text
	Given        string
	Params       uint16
	Types, Kinds []byte
	Sharded      bool
	DB           string
	Mode         sqltext.Mode
	// Current says that its setting is that of the session; then the rest is empty.
	Current      bool
	SettingDB    string
	SettingFlags mysql.Capability
	SettingVars  []backend.Var
}

// LastStmtID stands for the statement that the last COM_STMT_PREPARE made, none if that failed. MariaDB's own drivers use
// it to send an execution without waiting for the statement's id. MariaDB manual: "COM_STMT_EXECUTE".
const LastStmtID = 1<<32 - 1

// ErrDescription says that a session's description cannot be read.
var ErrDescription = errors.New("malformed description of a session")

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

// Append appends the encoded description to b. A change of what it writes needs another handover.Version, but for what a flag
// says is there: a process that does not know the flag declines to take the session.
func (c *Description) Append(b []byte) []byte {
	b = mysql.AppendUint32(b, c.ID)
	b = appendBools(b, c.AdminOnly, c.Autocommit, c.Resolved, c.Strict, c.GTIDs != "")
	b = mysql.AppendLenencString(b, c.User)
	b = mysql.AppendLenencString(b, c.Client)
	b = appendUint64(appendUint64(b, uint64(c.Started)), uint64(c.Since))
	b = mysql.AppendLenencString(b, c.Salt)
	b = mysql.AppendUint32(mysql.AppendUint32(b, uint32(c.Capabilities)), uint32(c.Flags))
	b = mysql.AppendLenencString(b, c.DB)
	b = mysql.AppendUint16(b, c.Collation)
	b = appendMode(b, c.Mode)
	b = appendVars(b, c.Vars)
	b = mysql.AppendLenenc(b, uint64(len(c.NextTransaction)))
	for _, text := range c.NextTransaction {
		b = mysql.AppendLenencString(b, text)
	}
	b = appendUint64(appendUint64(appendUint64(b, uint64(c.RowCount)), c.FoundRows), c.LastInsertID)
	b = mysql.AppendLenenc(b, uint64(len(c.Warnings)))
	for _, w := range c.Warnings {
		b = mysql.AppendUint16(mysql.AppendLenencString(b, w.Level), w.Code)
		b = mysql.AppendUint32(mysql.AppendLenencString(b, w.Message), uint32(w.Row))
	}
	b = mysql.AppendUint32(mysql.AppendUint32(b, c.WarningCount), c.ErrorCount)
	b = mysql.AppendUint32(mysql.AppendUint32(b, c.NextStmtID), c.LastStmtID)
	b = mysql.AppendLenenc(b, uint64(len(c.Stmts)))
	for k := range c.Stmts {
		b = c.Stmts[k].Append(b)
	}
	if c.GTIDs != "" {
		b = mysql.AppendLenencString(b, c.GTIDs)
	}
	return b
}

func (st *StmtDescription) Append(b []byte) []byte {
	b = mysql.AppendUint32(b, st.ID)
	b = appendBools(b, st.Sharded, st.Current)
	b = mysql.AppendLenencString(mysql.AppendLenencString(mysql.AppendLenencString(b, st.Text), st.Source), st.Given)
	b = mysql.AppendUint16(b, st.Params)
	b = mysql.AppendLenencString(mysql.AppendLenencString(b, st.Types), st.Kinds)
	b = appendMode(mysql.AppendLenencString(b, st.DB), st.Mode)
	if st.Current {
		return b
	}
	b = mysql.AppendUint32(mysql.AppendLenencString(b, st.SettingDB), uint32(st.SettingFlags))
	return appendVars(b, st.SettingVars)
}

// descriptionReader reads what Append wrote. A fault shows in its cursor's error.
type descriptionReader struct {
	mysql.Cursor
	bad bool
}

func (r *descriptionReader) text() string { return string(r.LenencBytes()) }

func (r *descriptionReader) uint64() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// bools reads flags; those without a meaning must not be set.
func (r *descriptionReader) bools(bits ...*bool) {
	v := r.Uint8()
	for k, bit := range bits {
		*bit = v&(1<<k) != 0
	}
	r.bad = r.bad || v>>len(bits) != 0
}

// list reads a list by its items. What is announced takes no memory that what has come does not justify.
func (r *descriptionReader) list(item func()) {
	for n := r.Lenenc(); n > 0 && r.ok(); n-- {
		item()
	}
}

func (r *descriptionReader) mode() (m sqltext.Mode) {
	r.bools(&m.ANSIQuotes, &m.NoBackslashEscapes, &m.PipesAsConcat, &m.HighNotPrecedence, &m.IgnoreSpace, &m.MariaDB)
	m.ServerVersion = int32(r.Uint32())
	m.Charset = sqltext.Charset(r.Uint8())
	r.bad = r.bad || m.Charset > sqltext.GB18030
	return m
}

func (r *descriptionReader) vars() (vars []backend.Var) {
	r.list(func() {
		v := backend.Var{Name: r.text(), Value: r.text()}
		r.bad = r.bad || v.Name == ""
		vars = append(vars, v)
	})
	return vars
}

// ok tells whether nothing was wrong so far.
func (r *descriptionReader) ok() bool { return !r.bad && r.Err() == nil }

// Decode reads what Append wrote, and nothing else: whatever it takes is fit to be gone on with.
func (c *Description) Decode(b []byte) error {
	r := &descriptionReader{Cursor: mysql.NewCursor(b)}
	c.ID = r.Uint32()
	var changed bool
	r.bools(&c.AdminOnly, &c.Autocommit, &c.Resolved, &c.Strict, &changed)
	c.User, c.Client = r.text(), r.text()
	c.Started, c.Since = int64(r.uint64()), int64(r.uint64())
	c.Salt = append([]byte(nil), r.LenencBytes()...)
	c.Capabilities, c.Flags = mysql.Capability(r.Uint32()), mysql.Capability(r.Uint32())
	c.DB, c.Collation, c.Mode, c.Vars = r.text(), r.Uint16(), r.mode(), r.vars()
	r.list(func() { c.NextTransaction = append(c.NextTransaction, r.text()) })
	c.RowCount, c.FoundRows, c.LastInsertID = int64(r.uint64()), r.uint64(), r.uint64()
	r.list(func() {
		c.Warnings = append(c.Warnings, Warning{Level: r.text(), Code: r.Uint16(), Message: r.text(), Row: int(r.Uint32())})
	})
	c.WarningCount, c.ErrorCount = r.Uint32(), r.Uint32()
	c.NextStmtID, c.LastStmtID = r.Uint32(), r.Uint32()
	seen := make(map[uint32]bool)
	r.list(func() {
		st := r.stmt()
		r.bad = r.bad || seen[st.ID] || st.ID == 0 || st.ID == LastStmtID
		seen[st.ID] = true
		c.Stmts = append(c.Stmts, st)
	})
	if changed {
		c.GTIDs = r.text()
		r.bad = r.bad || c.GTIDs == ""
	}
	if !r.ok() || r.Len() > 0 || c.ID == 0 {
		return ErrDescription
	}
	return nil
}

func (r *descriptionReader) stmt() (st StmtDescription) {
	st.ID = r.Uint32()
	r.bools(&st.Sharded, &st.Current)
	st.Text, st.Source, st.Given, st.Params = r.text(), r.text(), r.text(), r.Uint16()
	st.Types = append([]byte(nil), r.LenencBytes()...)
	st.Kinds = append([]byte(nil), r.LenencBytes()...)
	st.DB, st.Mode = r.text(), r.mode()
	// Executions index kinds by parameter, and look how many types there are.
	n := int(st.Params)
	r.bad = r.bad || len(st.Types)%2 != 0 || len(st.Kinds) != 0 && len(st.Kinds) != n
	if !st.Current {
		st.SettingDB, st.SettingFlags = r.text(), mysql.Capability(r.Uint32())
		st.SettingVars = r.vars()
	}
	return st
}
