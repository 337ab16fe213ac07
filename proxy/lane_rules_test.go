package proxy_test

import (
	"fmt"
	"strconv"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Query rules count each statement that shares a connection once, and what shares one is told by its own digest beside rules, too.
func TestPipelinedStatementsAndRules(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		p := startLane(t, oneNode(server.Addr, 6)+pipelined+"\nquery_rules: [{name: reads, tables: [points], classes: [read], block: no, dry_run: true}]\n")
		pointTable(t, dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database}))
		c := p.client(database)
		hits := func() int {
			r := must(t, c, "SHOW KS QUERY_RULES")
			for k, name := range r.Names() {
				if name == "hits" {
					n, _ := strconv.Atoi(fmt.Sprint(r.Rows[0][k]))
					return n
				}
			}
			return -1
		}
		learn(t, p, c, "SELECT v FROM points WHERE id = 3")
		st, err := c.Prepare("SELECT v FROM points WHERE id = ?")
		if err != nil {
			t.Fatal(err)
		}
		had, shared := hits(), p.Totals().Shared
		for k := range 50 {
			must(t, c, fmt.Sprintf("SELECT v FROM points WHERE id = %d", k))
			if _, err := st.Execute(k); err != nil {
				t.Fatal(err)
			}
		}
		if n := hits() - had; n != 100 {
			t.Errorf("%d hits of 100 statements", n)
		}
		if p.Totals().Shared == shared {
			t.Error("no statement shared a connection")
		}
		must(t, c, "SELECT v FROM points WHERE id = 3")
		shared = p.Totals().Shared
		for range 5 {
			must(t, c, "SELECT v FROM points WHERE n = 3")
		}
		if n := p.Totals().Shared - shared; n != 0 {
			t.Errorf("%d scans shared a connection", n)
		}
	})
}
