// Package state keeps what a client has set of its session, and what answers leave of it: the current database, variables, how texts are
// read, and what FOUND_ROWS(), LAST_INSERT_ID(), ROW_COUNT() and SHOW WARNINGS speak of. Whichever backend connection runs the next statement
// is brought to it by its Setting. The package knows neither the session nor who holds a connection: what needs a server's answer takes the
// connection to ask on and returns the connection's error, and what cannot be brought to other connections is returned as Bound.
package state

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// State is what a client has set of its session, and what its last statements left. Its owner is the session's goroutine or loop; a copy
// shares memory with it. The zero value is a session before its login.
type State struct {
	// Mode is how the client's texts are to be read, and Strict says that sql_mode makes errors of values that do not fit. ReadMode derives
	// both.
	Mode   sqltext.Mode
	Strict bool
	// Autocommit is the variable's value.
	Autocommit bool
	// ServerStatus is what the backend's last OK or end packet said, before the session's own flags went into it.
	ServerStatus mysql.Status
	// HeldVariable is a variable of which the connection that the session keeps alone has the value; "" without one.
	HeldVariable string

	Diagnostics Diagnostics
	Found       FoundRows
	InsertID    InsertID

	db string
	// vars has the charset variables and autocommit always among them. What it has is never changed in place: idle sessions share it
	// with their settings.
	vars  []backend.Var
	flags mysql.Capability
	// collation is the id that the handshake asked for; resolved against the server's list before the first statement. presumed says that
	// another node's server stood in for the default node's, and presumedMode that its sql_mode still does.
	collation                        uint16
	resolved, presumed, presumedMode bool
	// followed says that a statement changed the current database by itself.
	followed bool
	// boundWaits says that row locks are not waited for as long as the servers have it by default.
	boundWaits bool
	setting    *backend.Setting // of the fields above but followed; nil when they changed since
}

// New returns the state of a session after its login with a collation's id, with the client's capabilities.
func New(collation uint16, caps mysql.Capability) State {
	st := State{Autocommit: true, collation: collation, flags: caps & backend.SettingFlags}
	st.Set("autocommit", "1")
	return st
}

// DB returns the current database, "" if there is none.
func (st *State) DB() string { return st.db }

// SetDB makes db the current database. The text is copied.
func (st *State) SetDB(db string) {
	st.db = strings.Clone(db)
	st.setting = nil
}

// Collation returns the id that the handshake asked for.
func (st *State) Collation() uint16 { return st.collation }

// Resolved reports whether the handshake's collation is known as variables, and so how the client's texts are read.
func (st *State) Resolved() bool { return st.resolved }

// InDoubt reports whether a connection may know of FOUND_ROWS() or LAST_INSERT_ID() what the session does not.
func (st *State) InDoubt() bool {
	return st.Found.doubt || st.Found.on != nil || st.InsertID.doubt || st.InsertID.on != nil
}

// Set stores a variable, as SQL text. The texts may alias a read buffer: they are copied.
func (st *State) Set(name, value string) {
	if name == sqlMode {
		st.presumedMode = false
	}
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

// Unset forgets a variable: it has the server's default again.
func (st *State) Unset(name string) {
	if k := st.index(name); k >= 0 {
		st.setting = nil
		st.vars = slices.Delete(slices.Clone(st.vars), k, k+1)
	}
}

// index is where vars has a variable; -1 if it is not set.
func (st *State) index(name string) int {
	return slices.IndexFunc(st.vars, func(v backend.Var) bool { return v.Name == name })
}

// Value returns a variable's SQL text; "" if it is not set.
func (st *State) Value(name string) string {
	if k := st.index(name); k >= 0 {
		return st.vars[k].Value
	}
	return ""
}

// FindsByNull reports whether "id IS NULL" finds the row with the last generated id. MySQL manual: "sql_auto_is_null".
func (st *State) FindsByNull() bool {
	v := st.Value("sql_auto_is_null")
	return v != "" && v != "0"
}

// WaitTimeout returns the client's own wait_timeout in seconds; 0 if it has set none. MySQL manual: "Server System Variables".
func (st *State) WaitTimeout() uint32 {
	seconds, _ := strconv.Atoi(strings.Trim(st.Value("wait_timeout"), "'"))
	return uint32(min(max(seconds, 0), math.MaxUint32))
}

// Setting returns the setting that a backend connection must carry for this session. It is made anew only after a change, and is the same
// pointer for equal states.
func (st *State) Setting() *backend.Setting {
	if st.setting == nil {
		st.setting = backend.Intern(st.db, st.flags, st.vars)
		st.db, st.vars = st.setting.DB, st.setting.Vars
		if st.boundWaits && st.index(LockWaitTimeout) < 0 {
			st.setting = st.setting.With(LockWaitTimeout, strconv.Itoa(LockWaitBound))
		}
	}
	return st.setting
}

// LockWaitTimeout is the variable whose value BoundWaits changes. MySQL manual: "InnoDB Startup Options and System Variables".
const LockWaitTimeout = "innodb_lock_wait_timeout"

// LockWaitBound is how long a row lock is waited for, in seconds, where waits are bounded.
const LockWaitBound = 5

// BoundWaits has connections carry another innodb_lock_wait_timeout than the servers' default, unless the client has set one, or takes that back.
func (st *State) BoundWaits(on bool) {
	if st.boundWaits != on {
		st.boundWaits, st.setting = on, nil
	}
}

// SettingIn returns what Setting would be with db for the current database.
func (st *State) SettingIn(db string) *backend.Setting {
	if db == st.db {
		return st.Setting()
	}
	return backend.Intern(db, st.flags, st.vars)
}

// sqlMode is the variable that says how a client's texts are read.
const sqlMode = "sql_mode"

// Presume is Resolve by the server of another node while nothing is known of the default node's. Its sql_mode stands until Resolve, or until
// the client sets one.
func (st *State) Presume(info *backend.Info) {
	st.Resolve(info)
	st.resolved, st.presumed, st.presumedMode = false, true, true
}

// Presumed reports whether the session has something to go by until it is Resolved.
func (st *State) Presumed() bool { return st.presumed }

// Resolve turns the collation of the handshake into the variables that SET NAMES would set, once the server's list is
// known. A server that does not know the id uses its own default, and so does the session.
func (st *State) Resolve(info *backend.Info) {
	if st.resolved {
		return
	}
	st.resolved = true
	c, ok := info.Collations[st.collation]
	if !ok {
		c, ok = info.Collations[uint16(info.Collation)]
	}
	if ok && !st.presumed {
		st.setNames(c)
	}
	// Every node is to read the client's texts as the proxy does: by the default node's sql_mode, not by one of its own.
	if st.presumedMode || st.Value(sqlMode) == "" {
		st.Set(sqlMode, "'"+info.SQLMode+"'")
	}
	st.ReadMode(info)
}

// setNames does what SET NAMES charset COLLATE collation does.
func (st *State) setNames(c backend.Collation) {
	st.Set("character_set_client", "'"+c.Charset+"'")
	st.Set("character_set_results", "'"+c.Charset+"'")
	st.Set("collation_connection", "'"+c.Name+"'")
}
