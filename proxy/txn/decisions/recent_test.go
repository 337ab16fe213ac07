package decisions

import (
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// The rows that tell whether a read is whole are those of the caller's snapshot, in a transaction that only reads and in a branch, whatever the session
// has set: no finished ones, no Aborted ones.
func TestRecent(t *testing.T) {
	onCallers(t, func(t *testing.T, b *bench, c *mysqltest.RawClient) {
		row := func(gtrid, state, doneTS string) {
			t.Helper()
			must(t, b.root, "INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac, done_ts) VALUES ('"+gtrid+"', '"+state+"', '1,2', 'c', '"+mac+"', "+doneTS+")")
		}
		row("anchor", "C", "NULL")
		row("aborted", "A", "NULL")
		row("branch", "B", "NULL")
		row("done", "D", "NULL")
		row("finished", "D", "NOW(6)")
		recent := func() string {
			t.Helper()
			var list []string
			for _, row := range must(t, c, "CALL ks_meta.ks_recent()").Rows {
				list = append(list, row[0].(string)+"="+row[1].(string))
				if row[2] != "1,2" || row[3] != "c" || row[4] != mac {
					t.Errorf("%q", row)
				}
			}
			slices.Sort(list)
			return strings.Join(list, " ")
		}
		const before = "anchor=C branch=B done=D"
		must(t, c, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
		must(t, c, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
		row("later", "C", "NULL")
		if got := recent(); got != before {
			t.Errorf("in a snapshot: %s", got)
		}
		must(t, c, "COMMIT AND NO CHAIN NO RELEASE")
		must(t, c, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
		must(t, c, "XA START 'x'")
		if got := recent(); got != before+" later=C" {
			t.Errorf("in a branch: %s", got)
		}
		row("latest", "B", "NULL")
		if got := recent(); got != before+" later=C" {
			t.Errorf("in a branch, again: %s", got)
		}
		must(t, c, "XA END 'x'")
		must(t, c, "XA ROLLBACK 'x'")
	})
}
