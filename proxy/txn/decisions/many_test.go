package decisions

import "testing"

// Whatever was left on a server, it is found to have what it needs: proxies that are not ready cannot end what was left.
func TestReadyWithManyDecisions(t *testing.T) {
	onServers(t, func(t *testing.T, b *bench) {
		n := made(t, b)
		must(t, b.root, "INSERT INTO ks_meta.dtx (gtrid, state, parts, conns, mac) SELECT CONCAT('many', a.n * 1000 + b.n), 'C', '1,2', 'c', '"+mac+"' FROM "+
			"(SELECT ROW_NUMBER() OVER () AS n FROM information_schema.COLLATIONS LIMIT 101) AS a, (SELECT ROW_NUMBER() OVER () AS n FROM information_schema.COLUMNS LIMIT 1000) AS b")
		if rows := must(t, b.root, "SELECT COUNT(*) FROM ks_meta.dtx").Rows; rows[0][0] != "101000" {
			t.Fatal(rows)
		}
		if f, err := Look(n.Primary, soon()); err != nil || !f.Complete() {
			t.Errorf("%+v, %v", f, err)
		}
	})
}
