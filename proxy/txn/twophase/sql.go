package twophase

import (
	"strconv"
	"strings"
	"time"
)

// What the statements expect on each node, made by an account that clients' statements do not run under. All texts are ASCII, and none is
// taken from a client.
//
//	CREATE TABLE ks_meta.dtx (
//	  gtrid   CHAR(40) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, -- Row.Key
//	  state   CHAR(1) NOT NULL,                                          -- Row.State
//	  parts   VARCHAR(512) NOT NULL,                                     -- Row.Parts
//	  conns   VARCHAR(512) NOT NULL,                                     -- Row.Conns
//	  mac     CHAR(64) NOT NULL,                                         -- Row.MAC
//	  ts      TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
//	  done_ts TIMESTAMP(6) NULL,                                         -- DoFinish
//	  KEY (state, done_ts)) ENGINE=InnoDB;
//
//	ks_meta.ks_branch(gtrid, parts, conns, mac)           -- inserts the row 'B' in the caller's transaction
//	ks_meta.ks_decide(gtrid, parts, conns, deadline, mac) -- inserts the row IF(UTC_TIMESTAMP(6) < deadline, 'C', NULL), which 1048 refuses, then COMMIT
//	ks_meta.ks_recent()                                   -- the rows in the states 'B', 'C' and, of those without done_ts, 'D', as Snapshot.Rows
//
// The procedures run with their owner's rights and a strict sql_mode of their own, and refuse conns that do not end in a colon and the caller's
// CONNECTION_ID(): what another connection was seen to call is of no use. Clients' accounts have EXECUTE on them and no other right.
// The proxies' account has SELECT, INSERT, UPDATE and DELETE on the table, CONNECTION_ADMIN or SUPER for KILL, PROCESS, and in MySQL
// XA_RECOVER_ADMIN; its connections have the settings of [Administers].

// Administers are the statements for a connection before it carries out an [Action] of the proxies' account: waits for locks are short, as
// whoever holds one is to be waited for by asking again, and reads lock no gaps.
var Administers = []string{
	"SET SESSION innodb_lock_wait_timeout = 1",
	"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
	"SET SESSION autocommit = 1",
}

// Recover lists the prepared branches of a server.
const Recover = "XA RECOVER"

// Recent reads what a [Snapshot] has, in the transaction of its caller.
const Recent = "CALL ks_meta.ks_recent()"

const columns = "SELECT gtrid, state, parts, conns, mac FROM ks_meta.dtx WHERE "

// List returns the query for the next rows of an [Auditor] behind the key after; the first ones come with "".
func List(after string, limit int) string {
	return columns + "gtrid > " + quote(max(after, gtridPrefix)) + " AND gtrid < " + quote(gtridPrefix+"g") +
		" AND done_ts IS NULL AND state IN ('C', 'A', 'D') ORDER BY gtrid LIMIT " + strconv.Itoa(limit)
}

// Expire returns the statement that deletes what was kept for those who ask. It may be early where the server's clock jumps: the protocol needs these
// rows for twice Timing.Settle behind the decision, which the [Auditor] has measured.
func Expire(retention time.Duration, limit int) string {
	return "DELETE FROM ks_meta.dtx WHERE state = 'D' AND done_ts < NOW(6) - INTERVAL " +
		strconv.FormatInt(int64(retention/time.Second), 10) + " SECOND LIMIT " + strconv.Itoa(limit)
}

// Statements returns the SQL of an action, one command each. All of them are sent, at once or one behind the other, but for
// Action.Stepwise. Of DoRollbackBranch the last answer counts, as the branch may be in any state; of the others the first error.
func (a Action) Statements() []string {
	xid := a.XID.String()
	switch a.Do {
	case DoClock:
		return []string{"SELECT UTC_TIMESTAMP(6) + INTERVAL " + strconv.FormatInt(a.Within.Microseconds(), 10) + " MICROSECOND"}
	case DoPrepare:
		list := []string{"CALL ks_meta.ks_branch(" + quote(a.Row.Key, a.Row.Parts, a.Row.Conns, a.Row.MAC) + ")", "XA END " + xid, "XA PREPARE " + xid}
		if a.Compound { // MariaDB Knowledge Base: "Using Compound Statements Outside of Stored Programs"
			return []string{"BEGIN NOT ATOMIC " + strings.Join(list, "; ") + "; END"}
		}
		return list
	case DoDecide:
		return []string{"CALL ks_meta.ks_decide(" + quote(a.Row.Key, a.Row.Parts, a.Row.Conns, a.Deadline, a.Row.MAC) + ")"}
	case DoCommit:
		return []string{"COMMIT AND NO CHAIN NO RELEASE"}
	case DoRollback:
		return []string{"ROLLBACK AND NO CHAIN NO RELEASE"}
	case DoOnePhase:
		return []string{"XA END " + xid, "XA COMMIT " + xid + " ONE PHASE"}
	case DoCommitBranch:
		return []string{"XA COMMIT " + xid}
	case DoRollbackBranch:
		return []string{"XA END " + xid, "XA ROLLBACK " + xid}
	}
	return a.administers()
}

// administers are the statements for connections of the proxies' account.
func (a Action) administers() []string {
	where := "gtrid = " + quote(a.Row.Key)
	connection := strconv.FormatUint(a.Holder.Connection(), 10)
	switch a.Do {
	case DoFence:
		return []string{"INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES (" +
			quote(a.Row.Key, string(rune(a.Row.State)), a.Row.Parts, a.Row.Conns, a.Row.MAC) + ")"}
	case DoReadLocked:
		return []string{columns + where + " LOCK IN SHARE MODE"}
	case DoPeek:
		return []string{"SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", columns + where}
	case DoKill:
		return []string{"KILL CONNECTION " + connection}
	case DoFind:
		return []string{"SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = " + connection}
	case DoRead, DoMark, DoDelete, DoFinish:
		return []string{a.onRows(where)}
	}
	return nil
}

// byKey is the table for statements that change rows which their keys name: of a small table a server would rather look at all rows, or at all of a state, and wait for
// those of branches that are prepared.
const byKey = "ks_meta.dtx FORCE INDEX (PRIMARY)"

// onRows is the statement of an action on rows that are there.
func (a Action) onRows(where string) string {
	switch a.Do {
	case DoRead:
		return columns + where
	case DoMark:
		return "UPDATE " + byKey + " SET state = 'D' WHERE " + where + " AND state = 'C'"
	case DoDelete:
		return "DELETE ks_meta.dtx FROM " + byKey + " WHERE " + where + " AND state = " + quote(string(rune(a.Row.State)))
	case DoFinish:
		return "UPDATE " + byKey + " SET done_ts = NOW(6) WHERE " + where + " AND state = 'D' AND done_ts IS NULL"
	}
	return ""
}

// quote returns literals with commas between them. A text that is not one of ours is quoted for any sql_mode and character set.
func quote(list ...string) string {
	var b strings.Builder
	for k, s := range list {
		if k > 0 {
			b.WriteString(", ")
		}
		if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '\'' || r == '\\' }) >= 0 {
			b.WriteString("0x")
			for k := range len(s) {
				b.Write(appendHex(nil, uint64(s[k]), 2))
			}
			continue
		}
		b.WriteString("'" + s + "'")
	}
	return b.String()
}
