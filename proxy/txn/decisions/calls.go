package decisions

import (
	"encoding/hex"
	"strings"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
)

// The states of a row. Those of Committed, Aborted and Done are on a transaction's anchor.
const (
	Committed = "C"
	Aborted   = "A"
	Done      = "D" // committed, and so are all of its branches
	Prepared  = "B" // a branch's
)

// Row is what a server has of a transaction.
type Row struct {
	GTRID string
	State string
	Parts string // the nodes of all branches
	Conns string // the connection of each branch: the server's identity, a colon, the connection's id
	MAC   string
}

// Branch is the statement that writes a branch's row, as part of the transaction under way, also of one of XA. It may be refused by error 1062, where
// there is a row, and by 1048, where the session's clock is stopped: SET timestamp = DEFAULT starts it. Either leaves the transaction as it was.
func (k Key) Branch(gtrid string) string {
	r := Row{GTRID: gtrid, State: Prepared}
	return "CALL " + schema + ".ks_branch(" + text(gtrid) + ", " + text(k.MAC(&r)) + ")"
}

// Decision is the statement that writes a transaction's outcome on its anchor and commits the transaction under way there, unless it is later than the
// deadline by the server's clock, of which [Clock] asks. [NotCommitted] tells what its errors mean.
func (k Key) Decision(gtrid, parts, conns string, deadline time.Time) string {
	r := Row{GTRID: gtrid, State: Committed, Parts: parts, Conns: conns}
	return "CALL " + schema + ".ks_decide(" + text(gtrid) + ", " + text(parts) + ", " + text(conns) + ", '" + deadline.UTC().Format(clockFormat) + "', " + text(k.MAC(&r)) + ")"
}

// Fence is the statement that writes on an anchor, where nobody has decided, that a transaction is aborted. Error 1062 says that somebody has. It is for a
// connection of [backend.Instance.Own], in autocommit.
func (k Key) Fence(gtrid string) string {
	r := Row{GTRID: gtrid, State: Aborted}
	return "INSERT INTO " + schema + ".dtx (gtrid, state, parts, conns, mac) VALUES (" + text(gtrid) + ", '" + Aborted + "', '', '', " + text(k.MAC(&r)) + ")"
}

// Clock is the query for the time by a server's clock, which [ParseClock] reads.
const Clock = "SELECT UTC_TIMESTAMP(6)"

const clockFormat = "2006-01-02 15:04:05.000000"

// ParseClock reads the answer to [Clock].
func ParseClock(cell string) (time.Time, error) { return time.Parse(clockFormat, cell) }

// Find asks for the row of a transaction, on a connection of [backend.Instance.Own]; found is false where there is none.
func Find(c *backend.Conn, gtrid string) (r Row, found bool, err error) {
	err = c.Rows("SELECT gtrid, state, parts, conns, mac FROM "+schema+".dtx WHERE gtrid = "+text(gtrid), 5, func(row []string) {
		r, found = Row{GTRID: row[0], State: row[1], Parts: row[2], Conns: row[3], MAC: row[4]}, true
	})
	return r, found, err
}

// Errors of servers. MySQL manual: "Server Error Message Reference"; MariaDB Knowledge Base: "MariaDB Error Codes".
const (
	erBadNull          = 1048
	erDBCreateExists   = 1007
	erTableExists      = 1050
	erBadDB            = 1049
	erSpAlreadyExists  = 1304
	erSpDoesNotExist   = 1305
	erProcAccessDenied = 1370
	erColumnAccess     = 1143
	erNoSuchTable      = 1146
	erDataTooLong      = 1406
	erNoSuchUser       = 1449
	erLockWait         = 1205
	erReadOnly         = 1290
	erReadOnlyTrx      = 1792
	erReadOnlyMode     = 1836
	erXAERRmfail       = 1399
)

// NotCommitted reports whether an error of a [Key.Decision] tells that nothing was committed and nothing was decided: the transaction is still open,
// or was rolled back as a whole. After any other, as of a statement that was killed or ran out of time, both may be, even though it is
// an error: servers notice a KILL behind the COMMIT, too.
func NotCommitted(err *mysql.SQLError) bool {
	switch err.Code {
	case mysql.ERDupEntry, erBadNull, erDataTooLong, erSpDoesNotExist, erProcAccessDenied, erNoSuchUser, erNoSuchTable, erBadDB, mysql.ERTableaccessDenied, erColumnAccess,
		erLockWait, mysql.ERLockDeadlock, erReadOnly, erReadOnlyTrx, erReadOnlyMode, erXAERRmfail, mysql.ERParse:
		return true
	}
	return false
}

// Lacking reports whether an error of a call tells that a procedure, its table or a right is not there, as on a server that took another's place:
// [Store.Forget] has [Store.Ready] make it again.
func Lacking(err *mysql.SQLError) bool {
	switch err.Code {
	case erSpDoesNotExist, erProcAccessDenied, erNoSuchUser, erNoSuchTable, erBadDB, mysql.ERTableaccessDenied, erColumnAccess:
		return true
	}
	return false
}

// text writes a string in a way that no sql_mode or character set reads otherwise, and that people can read.
func text(s string) string {
	if s == "" {
		return "X''" // '' is NULL in one sql_mode of MariaDB's
	}
	for k := range len(s) {
		if c := s[k]; !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte(" ,.:_-/", c) >= 0) {
			return "X'" + hex.EncodeToString([]byte(s)) + "'"
		}
	}
	return "'" + s + "'"
}
