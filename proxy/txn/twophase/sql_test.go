package twophase

import (
	"strings"
	"testing"
	"time"
)

func TestStatements(t *testing.T) {
	g := GTRID{Anchor: 1, Proxy: 2, Start: 3, Sequence: 4}
	x := XID{g, 5}
	const xid = "'ks100000001000000020000000300000000" + "04','00000005',1"
	row := Row{Key: g.String(), State: Aborted, Parts: "00000001,00000005", Conns: "00000001=s:7", MAC: "ab"}
	holder := Holder("s:7")
	for _, c := range []struct {
		a    Action
		want string
	}{
		{Action{Do: DoClock, Within: 10 * time.Second}, "SELECT UTC_TIMESTAMP(6) + INTERVAL 10000000 MICROSECOND"},
		{Action{Do: DoPrepare, XID: x, Row: row}, "CALL ks_meta.ks_branch('ks10000000100000002000000030000000004', '00000001,00000005', '00000001=s:7', 'ab'); XA END " + xid + "; XA PREPARE " + xid},
		{Action{Do: DoPrepare, XID: x, Row: row, Compound: true},
			"BEGIN NOT ATOMIC CALL ks_meta.ks_branch('ks10000000100000002000000030000000004', '00000001,00000005', '00000001=s:7', 'ab'); XA END " + xid + "; XA PREPARE " + xid + "; END"},
		{Action{Do: DoDecide, Row: row, Deadline: "2026-11-26 11:00:00.000000"},
			"CALL ks_meta.ks_decide('ks10000000100000002000000030000000004', '00000001,00000005', '00000001=s:7', '2026-11-26 11:00:00.000000', 'ab')"},
		{Action{Do: DoCommit}, "COMMIT AND NO CHAIN NO RELEASE"},
		{Action{Do: DoRollback}, "ROLLBACK AND NO CHAIN NO RELEASE"},
		{Action{Do: DoOnePhase, XID: x}, "XA END " + xid + "; XA COMMIT " + xid + " ONE PHASE"},
		{Action{Do: DoCommitBranch, XID: x}, "XA COMMIT " + xid},
		{Action{Do: DoRollbackBranch, XID: x}, "XA END " + xid + "; XA ROLLBACK " + xid},
		{Action{Do: DoFence, Row: row}, "INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) VALUES ('ks10000000100000002000000030000000004', 'A', '00000001,00000005', '00000001=s:7', 'ab')"},
		{Action{Do: DoRead, Row: row}, "SELECT gtrid, state, parts, conns, mac FROM ks_meta.dtx WHERE gtrid = 'ks10000000100000002000000030000000004'"},
		{Action{Do: DoReadLocked, Row: row}, "SELECT gtrid, state, parts, conns, mac FROM ks_meta.dtx WHERE gtrid = 'ks10000000100000002000000030000000004' LOCK IN SHARE MODE"},
		{Action{Do: DoPeek, Row: row}, "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; SELECT gtrid, state, parts, conns, mac FROM ks_meta.dtx WHERE gtrid = 'ks10000000100000002000000030000000004'"},
		{Action{Do: DoKill, Holder: holder}, "KILL CONNECTION 7"},
		{Action{Do: DoFind, Holder: holder}, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = 7"},
		{Action{Do: DoMark, Row: row}, "UPDATE ks_meta.dtx FORCE INDEX (PRIMARY) SET state = 'D' WHERE gtrid = 'ks10000000100000002000000030000000004' AND state = 'C'"},
		{Action{Do: DoDelete, Row: row}, "DELETE ks_meta.dtx FROM ks_meta.dtx FORCE INDEX (PRIMARY) WHERE gtrid = 'ks10000000100000002000000030000000004' AND state = 'A'"},
		{Action{Do: DoFinish, Row: row}, "UPDATE ks_meta.dtx FORCE INDEX (PRIMARY) SET done_ts = NOW(6) WHERE gtrid = 'ks10000000100000002000000030000000004' AND state = 'D' AND done_ts IS NULL"},
		{Action{Do: DoTimer}, ""},
	} {
		if got := strings.Join(c.a.Statements(), "; "); got != c.want {
			t.Errorf("%v: %s, want %s", c.a.Do, got, c.want)
		}
	}
	if got := quote("it's", `a\`, "é"); got != `0x69742773, 0x615c, 0xc3a9` {
		t.Errorf("quoted: %s", got)
	}
}
