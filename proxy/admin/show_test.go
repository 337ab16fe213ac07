package admin_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// Every SHOW KS has its columns, and shows what there is.
func TestShow(t *testing.T) {
	p := start(t, nil)
	root, pinned := p.client("root"), p.client("root")
	must(t, pinned, "SELECT GET_LOCK('a', 0)")
	must(t, pinned, "USE shop")
	must(t, pinned, "SELECT * FROM orders WHERE id = 1 AND note = 'sesame'")
	mysqltest.WaitFor(t, "the statement to be over", func() bool {
		return len(rows(t, root, "SHOW KS SESSIONS WHERE db = 'shop' AND command = 'Sleep'")) == 1
	})
	mysqltest.WaitFor(t, "a second to pass", func() bool { return len(rows(t, root, "SHOW KS HISTORY WHERE sessions >= 2")) > 0 })
	for _, c := range []struct {
		name, columns string
		rows          []string // each as "column=value|..."; they must be there
	}{
		{"STATUS", "Variable_name, Value", []string{"Variable_name=State|Value=online", "Variable_name=Nodes|Value=2", "Variable_name=Instances_in_use|Value=3"}},
		{"HISTORY", "id, at, commands, rows, bytes, errors_client, errors_proxy, errors_backend, p50, p95, p99, proxy, pool_wait, backend, sessions, in_use, waiting",
			[]string{"id=1"}},
		{"NODES", "node, instance, role, weight, state, held_down, health, answered, version, connections, in_use, max, lag, passed_over, withheld, statements, errors, busy_ms, bytes, zone, latency_ms",
			[]string{"node=n1|instance=" + p.n1.Addr + "|role=primary|weight=1|state=up|held_down=NO|health=up|max=4", "node=n1|role=replica", "node=n2|role=primary"}},
		{"POOLS", "node, instance, role, max, in_use_max, open, idle, in_use, dialling, waiting, gets, hits, dialled, waited, wait_microseconds, timed_out, rejected, dial_failures, closed",
			[]string{"node=n1|role=primary|max=4|waiting=0"}},
		{"SESSIONS", "id, user, host, db, command, seconds, age, in_transaction, pins, instance, port",
			[]string{"user=root|host=127.0.0.1|db=shop|command=Sleep|in_transaction=NO|pins=get_lock|instance=" + p.n1.Addr + "|port=service"}},
		{"PROCESSLIST", "Id, User, Host, db, Command, Time, State, Info", []string{"User=root|db=shop|Command=Sleep", "User=root|Command=Query|Info=show ks processlist;"}},
		{"TABLES", "user, db, table, shard, node, physical_db, physical_table", []string{
			"user=root|db=shop|table=orders|shard=0|node=n1|physical_db=shop|physical_table=orders_0000",
			"user=root|db=shop|table=orders|shard=3|node=n2|physical_table=orders_0003", "table=visits|shard=2|node=n2|physical_table=visits_2025",
		}},
		{"RULES", "user, db, table, type, kind, key, shards, nodes, locations, detail", []string{
			"user=root|table=NULL|type=default|nodes=n1", "user=root|table=orders|type=hash|kind=sharded|key=id|shards=4|locations=2, 2",
			"table=visits|type=date_year|shards=3", "user=app|type=default|nodes=n2", "user=open|type=scratch|nodes=n2",
		}},
		{"KEYS", "db, table, key, node, physical_db, physical_table, statements, share, rows, pinned", nil},
		{"PLANS", "user, db, statement, when_many, reason", []string{"user=root|db=shop|when_many=merge"}},
		{"DIGESTS", "user, db, statement, plan, count, errors, rows, bytes, moved_rows, moved_bytes, shards, total_sum, total_min, total_mean, total_p50, total_p95, total_p99, total_max, " +
			"backend_sum, backend_min, backend_mean, backend_p50, backend_p95, backend_p99, backend_max, wait_sum, first_seen, last_seen",
			[]string{"user=root|db=shop|statement=SELECT * FROM orders WHERE id = ? AND note = ?|plan=merge|count=1|errors=0|rows=2|moved_rows=0|moved_bytes=0|shards=2"}},
		{"PINS", "reason, sessions, total", []string{"reason=get_lock|sessions=1|total=1", "reason=cursor|sessions=0|total=0"}},
		{"LOCKS", "id, user, host, db, state, seconds, waits_for, node, holds, why, blocked_by",
			[]string{"user=root|host=127.0.0.1|db=shop|state=keeps|waits_for=NULL|node=n1|holds=" + p.n1.Addr + "|why=get_lock|blocked_by=NULL"}},
		{"CONFIG", "key, value, reloadable, settable", []string{"key=addr|value=127.0.0.1:0|reloadable=NO|settable=NO", "key=log_level|reloadable=YES|settable=YES", "key=user_list[app].password|value=***|reloadable=YES", "key=nodes[n1].max_conns_limit|value=4"}},
		{"EVENTS", "id, at, what, who, from, detail, outcome", []string{"who=kingshard|outcome=ok"}},
	} {
		r := must(t, root, "SHOW KS "+c.name)
		if got := columns(r); got != c.columns {
			t.Errorf("%s: columns %s, want %s", c.name, got, c.columns)
		}
		table := rows(t, root, "show ks "+strings.ToLower(c.name)+";")
		for _, want := range c.rows {
			if !slices.ContainsFunc(table, func(row []string) bool { return has(r.Names(), row, want) }) {
				t.Errorf("%s has no row %s:\n%q", c.name, want, table)
			}
		}
		if text := fmt.Sprint(table); strings.Contains(text, "sesame") {
			t.Errorf("%s shows a literal or a secret", c.name)
		}
	}
}

// has tells whether a row has the values of want, as "column=value|...".
func has(names, row []string, want string) bool {
	for pair := range strings.SplitSeq(want, "|") {
		name, value, _ := strings.Cut(pair, "=")
		if k := slices.Index(names, name); k < 0 || row[k] != value {
			return false
		}
	}
	return true
}

// LIKE, WHERE, ORDER BY and LIMIT work on every table as on a server.
func TestShowFilters(t *testing.T) {
	p := start(t, nil)
	root := p.client("root")
	first := func(text string) string {
		t.Helper()
		var out []string
		for _, row := range rows(t, root, text) {
			out = append(out, row[len(row)-1])
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ text, want string }{
		{"SHOW KS TABLES LIKE 'ORD%'", "orders_0000 orders_0001 orders_0002 orders_0003"},
		{"SHOW KS TABLES LIKE '%s_ts' LIMIT 1", "visits_2023"},
		{"SHOW KS TABLES LIKE 'v_sits' WHERE shard > 0", "visits_2024 visits_2025"},
		{"SHOW KS TABLES WHERE node = 'N2' AND `table` = 'orders' ORDER BY shard DESC", "orders_0003 orders_0002"},
		{"SHOW KS TABLES WHERE shard >= 2 AND shard <= 2.0 ORDER BY physical_table DESC", "visits_2025 orders_0002"},
		{"SHOW KS TABLES WHERE shard <> 0 AND shard != 1 AND shard < 3 ORDER BY 'table', shard ASC", "orders_0002 visits_2025"},
		{"SHOW KS TABLES ORDER BY shard DESC, physical_table LIMIT 2", "orders_0003 orders_0002"},
		{"SHOW KS TABLES ORDER BY physical_table LIMIT 1, 2", "orders_0001 orders_0002"},
		{"SHOW KS TABLES ORDER BY physical_table LIMIT 2 OFFSET 6", "visits_2025"},
		{"SHOW KS TABLES LIMIT 0", ""},
		{"SHOW KS TABLES LIMIT 99, 99", ""},
		{"SHOW KS TABLES WHERE physical_table NOT LIKE '%\\_000_' AND shard = 1", "visits_2024"},
		{"SHOW KS TABLES WHERE physical_table LIKE 'orders\\_0001'", "orders_0001"},
		{"SHOW KS TABLES WHERE user IS NULL", ""},
		{"SHOW KS TABLES WHERE user IS NOT NULL AND shard = -1", ""},
		{"SHOW KS TABLES LIKE 'it''s \\'' ", ""},
		{"SHOW KS RULES WHERE `key` IS NULL AND user = root AND type = default LIMIT 1", "NULL"},
		{"SHOW /* c */ KS TABLES LIMIT 1 -- end", "orders_0000"},
	} {
		if got := first(c.text); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"SHOW KS", "one of STATUS"}, {"SHOW KS FOO", "EVENTS"}, {"SHOW KS TABLES LIKE", "a pattern"}, {"SHOW KS TABLES WHERE", "a column"},
		{"SHOW KS TABLES WHERE nix = 1", "a column of TABLES (user, db, table"}, {"SHOW KS TABLES WHERE shard", "LIKE"},
		{"SHOW KS TABLES WHERE shard = 'x'", "number"}, {"SHOW KS TABLES WHERE shard = ", "a value"}, {"SHOW KS TABLES WHERE shard IS 1", "NULL"},
		{"SHOW KS TABLES WHERE shard = 1 OR shard = 2", "the end"}, {"SHOW KS TABLES ORDER shard", "BY"}, {"SHOW KS TABLES ORDER BY", "a column"},
		{"SHOW KS TABLES LIMIT x", "a number"}, {"SHOW KS TABLES LIMIT 1, -1", "a number"},
		{"SHOW KS TABLES WHERE shard LIKE ('x')", "a value"}, {"SHOW KS TABLES WHERE shard NOT 1", "LIKE"}, {"SHOW KS TABLES LIKE 'x", "pattern"},
	} {
		fails(t, root, c.text, 9031, c.want)
	}
}

// Odd names of users, tables and databases are values like any other.
func TestOddNames(t *testing.T) {
	odd := "o'd\\d\"; -- `x` %_ \u00e4\n"
	p := start(t, func(text string) string {
		yaml := fmt.Sprintf("%q", odd)
		text = strings.Replace(text, "- {user: only,", "- {user: "+yaml+", password: odd, rights: admin}\n- {user: only,", 1)
		return text + "- {user: " + yaml + ", nodes: [n1], default: n1}\n"
	})
	c, err := mysqltest.DialRaw(p.addr, mysqltest.ClientConfig{User: odd, Password: "odd"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	quoted := "'" + strings.NewReplacer("'", "''", "\\", "\\\\").Replace(odd) + "'"
	if got := rows(t, c, "SHOW KS SESSIONS WHERE user = "+quoted); len(got) != 1 || got[0][1] != odd {
		t.Errorf("its session: %q", got)
	}
	if got := rows(t, c, "KS EXPLAIN FOR "+quoted+" SELECT 1"); len(got) != 1 || got[0][3] != "n1" {
		t.Errorf("explained: %q", got)
	}
	fails(t, c, "KS NODE "+quoted+" DOWN", 9032, "there is no node")
	fails(t, c, "admin node values('down', "+quoted+", 'slave', "+quoted+")", 1105, "invalid node")
	if got := rows(t, c, "SHOW KS EVENTS WHERE who = "+quoted); len(got) != 1 || got[0][5] != odd {
		t.Errorf("events: %q", got)
	}
	for line := range strings.Lines(p.log.String()) {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("a name broke the log: %q", line)
		}
	}
}
