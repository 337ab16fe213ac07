package decisions

import (
	"strings"
	"time"

	"kingshard/mysql"
)

// mac stands for the code of a row, which the servers do not look at.
var mac = strings.Repeat("0a", 32)

// branchCall is the statement that writes a branch's row.
func branchCall(gtrid string) string {
	return "CALL ks_meta.ks_branch('" + gtrid + "', '1,2', " + ownConns("1=uuid:1,2=uuid") + ", '" + mac + "')"
}

// decideCall is the statement that writes a decision, and commits.
func decideCall(gtrid, parts, conns string, deadline time.Time) string {
	return "CALL ks_meta.ks_decide('" + gtrid + "', '" + parts + "', " + ownConns(conns) + ", '" + deadline.UTC().Format(clockFormat) + "', '" + mac + "')"
}

// ownConns ends a list of connections with the caller's.
func ownConns(conns string) string { return "CONCAT('" + conns + ":', CONNECTION_ID())" }

// fenceInsert is the statement that decides otherwise.
func fenceInsert(gtrid string) string {
	return "INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES ('" + gtrid + "', 'A', '', '', '" + mac + "')"
}

// clockQuery asks for the time by a server's clock.
const clockQuery = "SELECT UTC_TIMESTAMP(6)"

const clockFormat = "2006-01-02 15:04:05.000000"

// notCommitted reports whether an error of a [Key.Decision] tells that nothing was committed and nothing was decided: the transaction is still open,
// or was rolled back as a whole. After any other, as of a statement that was killed or ran out of time, both may be, even though it is
// an error: servers notice a KILL behind the COMMIT, too.
func notCommitted(err *mysql.SQLError) bool {
	switch err.Code {
	case mysql.ERDupEntry, erBadNull, erDataTooLong, erSpDoesNotExist, erProcAccessDenied, erNoSuchUser, erNoSuchTable, erBadDB, mysql.ERTableaccessDenied, erColumnAccess,
		erLockWait, mysql.ERLockDeadlock, erReadOnly, erReadOnlyTrx, erReadOnlyMode, erXAERRmfail, mysql.ERParse:
		return true
	}
	return false
}
