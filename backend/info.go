package backend

import (
	"slices"
	"strings"

	"kingshard/mysql/sqltext"
)

// Info is what the proxy learned of an instance at its last login and probe. Immutable.
type Info struct {
	Version    string // as in the greeting
	MariaDB    bool
	Number     int // major*10000 + minor*100 + patch
	Collation  uint8
	Collations map[uint16]Collation // by id, as the server lists them
	// ResetConnection tells whether the server knows COM_RESET_CONNECTION.
	ResetConnection bool
	LowerCaseTables bool
	SQLMode         string // the global sql_mode, which sessions of the default node's begin with on every node
}

// Collation is one collation of a server.
type Collation struct{ Name, Charset string }

// parseVersion fills Version, MariaDB, Number and what follows from them.
func parseVersion(version string) *Info {
	i := &Info{Version: version, MariaDB: strings.Contains(version, "MariaDB"), Number: int(sqltext.ModeOf(version).ServerVersion)}
	if i.MariaDB {
		i.ResetConnection = i.Number >= 100204
	} else {
		i.ResetConnection = i.Number >= 50703
	}
	return i
}

// VariableName gives the server's own name of a variable that has had two: MySQL renamed the tx_ pair in 5.7.20,
// MariaDB in 11.1.
func (i *Info) VariableName(name string) string {
	renamed := !i.MariaDB && i.Number >= 50720 || i.MariaDB && i.Number >= 110100
	switch name {
	case "transaction_isolation":
		if !renamed {
			return "tx_isolation"
		}
	case "transaction_read_only":
		if !renamed {
			return "tx_read_only"
		}
	}
	return name
}

// sqlMode gives a value of sql_mode as the server takes it, without NO_AUTO_CREATE_USER on servers that know no other behaviour: those of the
// version before have it among their defaults, and may serve beside them. MySQL 8.0 manual: "Server SQL Modes".
func (i *Info) sqlMode(value string) string {
	if i.MariaDB || i.Number < 80000 || !strings.Contains(value, noAutoCreateUser) {
		return value
	}
	modes := strings.Split(strings.Trim(value, "'"), ",")
	modes = slices.DeleteFunc(modes, func(m string) bool { return m == noAutoCreateUser })
	return "'" + strings.Join(modes, ",") + "'"
}

const noAutoCreateUser = "NO_AUTO_CREATE_USER"

// TracksState tells whether the server has session_track_state_change.
func (i *Info) TracksState() bool {
	return i.MariaDB && i.Number >= 100204 || !i.MariaDB && i.Number >= 50704
}

// HidesColumns reports whether tables of the server may have invisible columns. MySQL manual: "Invisible Columns" (8.0.23); MariaDB Knowledge Base:
// "Invisible Columns" (10.3.3).
func (i *Info) HidesColumns() bool {
	return i.MariaDB && i.Number >= 100303 || !i.MariaDB && i.Number >= 80023
}
