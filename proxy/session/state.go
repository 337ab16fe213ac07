package session

import (
	"slices"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// state is what a client has set of its session, as far as the proxy keeps it: it is brought to whichever backend
// connection runs the next statement. What cannot be kept so pins the backend connection instead (pin.go).
type state struct {
	db string
	// vars has the charset variables and autocommit always among them. What it has is never changed in place: idle sessions share it
	// with their settings.
	vars       []backend.Var
	flags      mysql.Capability
	mode       sqltext.Mode
	strict     bool // sql_mode makes errors of values that do not fit
	autocommit bool
	// collation is the id that the handshake asked for; resolved against the server's list before the first statement.
	collation uint16
	resolved  bool
	setting   *backend.Setting // of the fields above; nil when they changed since

	// heldVariable is a variable of which the held connection alone has the value; "" without one.
	heldVariable string

	// pendingBegin is the BEGIN that the client has sent and that goes to the backend ahead of the next statement.
	pendingBegin string
	// next is what SET TRANSACTION said of the next transaction, and began what it had said of the one that the held connection is in.
	next, began characteristics

	result       lastResult
	found        foundRows
	insertIDs    insertIDs
	warnings     []warning // of the last statement, kept while its connection is not
	warningCount int
	errorCount   int
}

// lastResult is what ROW_COUNT() speaks of.
type lastResult struct{ rowCount int64 }

// inDoubt tells whether a connection may know of FOUND_ROWS() or LAST_INSERT_ID() what the session does not.
func (st *state) inDoubt() bool {
	return st.found.doubt || st.found.on != nil || st.insertIDs.doubt || st.insertIDs.on != nil
}

// init starts a session's state after the login.
func (st *state) init(collation uint16, caps mysql.Capability) {
	*st = state{autocommit: true, collation: collation, flags: caps & backend.SettingFlags}
	st.set("autocommit", "1")
}

// set stores a variable. The texts may alias a read buffer: they are copied.
func (st *state) set(name, value string) {
	k := st.index(name)
	if k >= 0 && st.vars[k].Value == value {
		return
	}
	st.setting = nil
	v := backend.Var{Name: strings.Clone(name), Value: strings.Clone(value)}
	if k < 0 {
		st.vars = append(slices.Clip(st.vars), v)
		return
	}
	st.vars = slices.Clone(st.vars)
	st.vars[k] = v
}

// unset forgets a variable: it has the server's default again.
func (st *state) unset(name string) {
	if k := st.index(name); k >= 0 {
		st.setting = nil
		st.vars = slices.Delete(slices.Clone(st.vars), k, k+1)
	}
}

// index is where vars has a variable; -1 if it is not set.
func (st *state) index(name string) int {
	return slices.IndexFunc(st.vars, func(v backend.Var) bool { return v.Name == name })
}

// value gives a variable's text; "" if it is not set.
func (st *state) value(name string) string {
	if k := st.index(name); k >= 0 {
		return st.vars[k].Value
	}
	return ""
}

// setDB makes db the current database.
func (st *state) setDB(db string) {
	st.db = strings.Clone(db)
	st.setting = nil
}

// current is the setting that a backend connection must carry for this session.
func (st *state) current() *backend.Setting {
	if st.setting == nil {
		st.setting = backend.Intern(st.db, st.flags, st.vars)
		st.db, st.vars = st.setting.DB, st.setting.Vars
	}
	return st.setting
}

// in is the setting that current would be with db for the current database.
func (st *state) in(db string) *backend.Setting {
	if db == st.db {
		return st.current()
	}
	return backend.Intern(db, st.flags, st.vars)
}

// resolve turns the collation of the handshake into the variables that SET NAMES would set, once the server's list is
// known. A server that does not know the id uses its own default, and so does the session.
func (st *state) resolve(info *backend.Info) {
	if st.resolved {
		return
	}
	st.resolved = true
	if c, ok := info.Collations[st.collation]; ok {
		st.setNames(c)
	} else if c, ok := info.Collations[uint16(info.Collation)]; ok {
		st.setNames(c)
	}
	// Every node is to read the client's texts as the proxy does: by the default node's sql_mode, not by one of its own.
	if st.value("sql_mode") == "" {
		st.set("sql_mode", "'"+info.SQLMode+"'")
	}
	st.readMode(info)
}

// setNames does what SET NAMES charset COLLATE collation does.
func (st *state) setNames(c backend.Collation) {
	st.set("character_set_client", "'"+c.Charset+"'")
	st.set("character_set_results", "'"+c.Charset+"'")
	st.set("collation_connection", "'"+c.Name+"'")
}

// ansiModes are the modes that stand for PIPES_AS_CONCAT, ANSI_QUOTES and IGNORE_SPACE together with others. MySQL and
// MariaDB manuals: "Server SQL Modes", "SQL_MODE".
var ansiModes = []string{"ANSI", "ORACLE", "MSSQL", "POSTGRESQL", "DB2", "MAXDB"}

// readMode derives how the client's text is to be read from sql_mode and character set.
func (st *state) readMode(info *backend.Info) {
	sqlMode := info.SQLMode
	if v := st.value("sql_mode"); v != "" {
		sqlMode = strings.Trim(v, "'")
	}
	sqlMode = "," + strings.ToUpper(sqlMode) + ","
	has := func(m string) bool { return strings.Contains(sqlMode, ","+m+",") }
	st.strict = slices.ContainsFunc([]string{"STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "TRADITIONAL"}, has)
	ansi := slices.ContainsFunc(ansiModes, has)
	st.mode = sqltext.Mode{
		ANSIQuotes:         has("ANSI_QUOTES") || ansi,
		NoBackslashEscapes: has("NO_BACKSLASH_ESCAPES"),
		PipesAsConcat:      has("PIPES_AS_CONCAT") || ansi,
		HighNotPrecedence:  has("HIGH_NOT_PRECEDENCE") || has("MYSQL323") || has("MYSQL40"),
		IgnoreSpace:        has("IGNORE_SPACE") || ansi,
		MariaDB:            info.MariaDB,
		ServerVersion:      info.Number,
		Charset:            textCharset(st.value("character_set_client")),
	}
}

// textCharset tells in which character sets the second byte of a character may look like a quote or a backslash.
func textCharset(name string) sqltext.Charset {
	switch strings.ToLower(strings.Trim(name, "'")) {
	case "gbk":
		return sqltext.GBK
	case "sjis", "cp932":
		return sqltext.SJIS
	case "big5":
		return sqltext.Big5
	case "gb18030":
		return sqltext.GB18030
	case "utf8mb4", "utf8mb3", "utf8", "":
		return sqltext.ASCIISafe
	case "latin1", "latin2", "latin5", "latin7", "ascii", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
		"greek", "hebrew", "koi8r", "koi8u", "macce", "macroman", "armscii8", "dec8", "geostd8", "hp8", "keybcs2", "swe7", "tis620":
		return sqltext.SingleByte
	}
	return sqltext.ASCIISafe
}

// setError makes e what SHOW WARNINGS shows.
func (st *state) setError(e *mysql.SQLError) {
	st.result = lastResult{rowCount: -1}
	st.warnings = append(st.warnings[:0], warning{Level: "Error", Code: e.Code, Message: e.Message})
	st.warningCount, st.errorCount = 1, 1
}
