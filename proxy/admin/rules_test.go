package admin_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/proxy/kserror"
)

const someRules = `query_rules:
- {name: tried, classes: [read], block: never, dry_run: true}
- {name: no-delete, users: [app], classes: [delete], block: not here}
- {name: no-orders, tables: [shop.orders], sources: 10.0.0.0/8, block: closed}
`

// Rules can be looked at and tried, count what they match, and change by a reload that prepared statements follow.
func TestQueryRules(t *testing.T) {
	p := start(t, func(text string) string { return text + someRules })
	root, app := p.client("root"), p.client("app")
	if _, err := app.Prepare("DELETE FROM t WHERE id = ?"); err == nil {
		t.Error("prepared though a rule forbids it")
	}
	must(t, app, "SELECT 1")
	got := rows(t, root, "SHOW KS QUERY_RULES")
	if len(got) != 3 || got[0][1] != "tried" || got[0][4] != "YES" || got[0][12] != "1" || got[1][12] != "1" || got[2][12] != "0" {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{
		"KS RULE TEST 'app'@'127.0.0.1' 'DELETE FROM t'": "DELETE FROM t,no-delete,block: not here,YES,NULL,NULL",
		"KS RULE TEST 'app'@'10.1.1.1' DELETE FROM shop.orders": "DELETE FROM shop.orders,no-delete,block: not here,YES,NULL,NULL; " +
			"DELETE FROM shop.orders,no-orders,block: closed,NO,rule no-delete matches first,NULL",
		"KS RULE TEST 'SELECT ''x'''": "SELECT 'x',tried,block: never,NO,dry_run: it only counts,NULL",
		"KS RULE TEST root@`10.0.0.9` 'INSERT INTO shop.orders VALUES (1); SELECT 2'": "INSERT INTO shop.orders VALUES (1),no-orders,block: closed,YES,NULL,NULL; " +
			"SELECT 2,tried,block: never,NO,dry_run: it only counts,NULL",
		"KS RULE TEST BEGIN": "",
	} {
		var got []string
		for _, row := range rows(t, root, text) {
			got = append(got, strings.Join(row, ","))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	fails(t, root, "KS RULE", kserror.AdminSyntax, "TEST")
	fails(t, root, "KS RULE TEST", kserror.AdminSyntax, "statement")
	fails(t, root, "KS RULE TEST 'a'@'b' 'SELECT 1'", kserror.AdminFailed, "IP address")
	fails(t, root, "KS RULE TEST 'a' 'b'", kserror.AdminSyntax)
	if got := rows(t, root, "SHOW KS QUERY_RULES LIKE 'tried'"); len(got) != 1 || got[0][12] != "1" {
		t.Errorf("a test counts, or the operator's own statements do: %q", got)
	}

	// A statement that was prepared before its rule came is refused when it is executed.
	p.write(strings.Replace(p.text, "[delete]", "[update]", 1))
	must(t, root, "KS RELOAD")
	st, err := app.Prepare("DELETE FROM t WHERE id = 1")
	if err != nil {
		t.Fatal(err)
	}
	execute := func() error {
		r, err := st.Execute()
		if err == nil && r.Err != nil {
			return r.Err
		}
		return err
	}
	if err := execute(); err != nil {
		t.Errorf("without a rule: %v", err)
	}
	p.write(p.text)
	must(t, root, "KS RELOAD")
	var e *mysql.SQLError
	if err := execute(); !errors.As(err, &e) || e.Code != kserror.QueryRule {
		t.Errorf("with a rule: %v", err)
	}
	if got := rows(t, root, "SHOW KS QUERY_RULES LIKE 'no-delete'"); got[0][12] != "2" {
		t.Errorf("counts over reloads: %q", got)
	}
}

// What administers the proxy is beyond its rules, for those with rights.
func TestRulesSpareAdministration(t *testing.T) {
	p := start(t, func(text string) string { return text + "query_rules:\n- {name: all, block: closed}\n" })
	root, app := p.client("root"), p.client("app")
	fails(t, app, "SELECT 1", kserror.QueryRule, "query rule all: closed")
	fails(t, app, "SHOW KS STATUS", kserror.QueryRule)
	fails(t, root, "SELECT 1", kserror.QueryRule)
	must(t, root, "SHOW KS QUERY_RULES")
	p.write(strings.Replace(p.text+"# open\n", "block: closed", "allow: true", 1))
	must(t, root, "KS RELOAD")
	must(t, app, "SELECT 1")
}

// Rules choose the instance and the node, of texts and of prepared statements.
func TestRuleRoutes(t *testing.T) {
	p := start(t, func(text string) string {
		return text + `replica_consistency: eventual # these servers have no GTIDs
query_rules:
- {name: fresh, tables: [fresh], route: primary}
- {name: slow, pattern: stale, timeout: 1h, next: true}
- {name: stale, tables: [stale], route: replica}
- {name: far, tables: [far, orders], node: n2}
`
	})
	root, ops := p.client("root"), p.client("ops")
	for text, want := range map[string]string{
		"SELECT 1": "r1", "SELECT * FROM fresh": "n1", "/*master*/ SELECT 1": "n1", "/*master*/ SELECT * FROM stale": "r1", "SELECT f(a) FROM stale": "r1", "SELECT f(a)": "n1",
		"SELECT * FROM stale FOR UPDATE": "n1", "SELECT * FROM far": "n2", "/*n1*/ SELECT * FROM far": "n2",
	} {
		if got := rows(t, root, text); len(got) != 1 || got[0][0] != want {
			t.Errorf("%s: %q, want %s", text, got, want)
		}
	}
	if got := rows(t, ops, "SELECT * FROM far"); got[0][0] != "r1" {
		t.Errorf("a node that the user does not have: %q", got)
	}
	if got := rows(t, root, "KS RULE TEST SELECT * FROM stale"); len(got) != 2 || got[0][2] != "timeout: 1h" || got[1][2] != "route: replica" || got[1][3] != "YES" {
		t.Errorf("%q", got)
	}
	// A rule does not move rows: what is about sharded tables runs where they are, or is refused.
	const elsewhere = "query rule far: it sends the statement to node n2, but that is about sharded tables"
	on := map[string]int{}
	for id := range 8 {
		text := "INSERT INTO shop.orders (id) VALUES (" + strconv.Itoa(id) + ")"
		r, err := root.Query(text)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case r.Err == nil:
			on["n2"]++
		case r.Err != nil && r.Err.Code == kserror.QueryRule && strings.HasPrefix(r.Err.Message, elsewhere):
			on["refused"]++
		default:
			t.Errorf("%s: %+v", text, r)
		}
	}
	if on["n2"] == 0 || on["refused"] == 0 {
		t.Errorf("on one shard: %v", on)
	}
	fails(t, root, "SELECT * FROM shop.orders", kserror.QueryRule, elsewhere)
	fails(t, root, "DELETE FROM shop.orders WHERE note = 1", kserror.QueryRule, elsewhere)
	st, err := root.Prepare("SELECT * FROM shop.orders")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := st.Execute(); err != nil || r.Err == nil || r.Err.Code != kserror.QueryRule {
		t.Errorf("prepared: %+v, %v", r, err)
	}
	// A query that is merged reads replicas if a rule says so, but not within a transaction.
	servers := func() (names []string) {
		for _, row := range rows(t, root, "SELECT * FROM shop.visits WHERE stale") {
			names = append(names, row[0])
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	if got := servers(); !slices.Equal(got, []string{"n2", "r1"}) {
		t.Errorf("a query on all shards: %q", got)
	}
	must(t, root, "BEGIN")
	if got := servers(); !slices.Equal(got, []string{"n1", "n2"}) {
		t.Errorf("a query on all shards in a transaction: %q", got)
	}
	must(t, root, "ROLLBACK")
}
