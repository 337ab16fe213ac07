package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn/twophase"
)

// An operator sees a branch that waits for a node which is gone, and ends it; who did so is on record.
func TestResolve(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			d := r.proxy()
			c := dial(t, d.addr, mysqltest.ClientConfig{User: "app", Password: "app"})
			must(t, c, "INSERT INTO shop.r (client, v) VALUES (1, 1)")
			prepare := func(n uint64) (gtrid string) {
				x := twophase.XID{GTRID: twophase.GTRID{Anchor: 7, Proxy: 10, Start: 1_700_000_000, Sequence: n}, Node: twophase.NodeIDOf("n2")}
				own := dial(t, r.servers[1].Addr, rootClient())
				for _, sql := range []string{"XA START " + x.String(), fmt.Sprintf("INSERT INTO shop.r (client, v) VALUES (%d, 1)", n), "XA END " + x.String(), "XA PREPARE " + x.String()} {
					must(t, own, sql)
				}
				own.Close()
				return x.GTRID.String()
			}
			kept, not := prepare(100), prepare(101)
			var list string
			mysqltest.WaitFor(t, "both in doubt", func() bool {
				list = ""
				for _, row := range must(t, c, "SHOW KS TRANSACTIONS WHERE state = 'prepared' ORDER BY gtrid").Rows {
					list += fmt.Sprintln(row...)
				}
				return strings.Count(list, "the decision of id 00000007") == 2
			})
			if !strings.HasPrefix(list, kept+" prepared n2 id 00000007 0000000a NO 2023-") || !strings.Contains(list, "'"+not+"','"+twophase.NodeIDOf("n2").String()+"',1") {
				t.Errorf("in doubt: %s", list)
			}
			if got := fmt.Sprint(must(t, c, "KS RESOLVE '"+kept+"' COMMIT").Rows); got != "[[n2 committed]]" {
				t.Errorf("COMMIT: %s", got)
			}
			if got := fmt.Sprint(must(t, c, "KS RESOLVE '"+not+"' ROLLBACK").Rows); got != "[[n2 rolled back]]" {
				t.Errorf("ROLLBACK: %s", got)
			}
			if got := fmt.Sprint(must(t, dial(t, r.servers[1].Addr, rootClient()), "SELECT client FROM shop.r WHERE client > 0 ORDER BY client").Rows); got != "[[1] [100]]" {
				t.Errorf("the rows are %s", got)
			}
			for _, sql := range []string{"KS RESOLVE '" + kept + "' COMMIT FORCE", "KS RESOLVE 'x' COMMIT"} {
				fails(t, c, sql, 9032)
			}
			for _, sql := range []string{"KS RESOLVE '" + kept + "'", "KS RESOLVE COMMIT", "KS RESOLVE '" + kept + "' COMMIT NOW", "KS FORGET INCIDENT", "KS FORGET INCIDENTS ALL"} {
				fails(t, c, sql, 9031)
			}
			if got := fmt.Sprint(must(t, c, "SHOW KS EVENTS LIKE 'resolve transaction'").Rows); !strings.Contains(got, kept+" COMMIT ok") || !strings.Contains(got, not+" ROLLBACK ok") || !strings.Contains(got, "no branch of it is prepared") {
				t.Errorf("events: %s", got)
			}
			mysqltest.WaitFor(t, "nothing in doubt", func() bool { return len(must(t, c, "SHOW KS TRANSACTIONS").Rows) == 0 })
		})
	}
}
