package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// What succeeded goes to another node, too: queries, and changes where the rule says so, prepared ones with their values. Its answers,
// errors and delays are nobody's.
func TestRulesMirror(t *testing.T) {
	for _, lane := range []string{"", "fast_lane: true\n"} {
		main, copied := new(recorder), new(recorder)
		hang := make(chan struct{})
		defer close(hang)
		server := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: main.handle})
		other := mysqltest.StartScript(t, mysqltest.ScriptConfig{Handler: func(c *mysqltest.ScriptConn, cmd mysql.Command, payload []byte) {
			text := string(payload)
			copied.handle(c, cmd, payload)
			if strings.Contains(text, "WHERE hang") {
				<-hang
			}
		}})
		addr := startProxyText(t, `
addr: 127.0.0.1:0
user_list: [{user: root, password: root, multi_statements: true}]
nodes: [{name: n, user: root, password: root, master: "`+server.Addr+`"}, {name: m, user: root, password: root, master: "`+other.Addr+`"}]
schema_list: [{user: root, nodes: [n], default: n}]
query_rules:
- {name: copy, tables: [t], mirror: m}
- {name: writes, tables: [w], mirror: m, mirror_writes: true}
- {name: itself, tables: [own], mirror: n}
`+lane)
		c := dial(t, addr, rootClient())
		for _, text := range []string{
			"SELECT rows FROM t", "SELECT multi FROM t WHERE a = 'it''s'", "INSERT INTO t VALUES (1)", "SELECT rows FROM t FOR UPDATE", "SELECT @a, rows FROM t", "SET @t = 1",
			"INSERT INTO w VALUES (2)", "DELETE FROM w", "SELECT rows FROM own", "DROP TABLE w", "SELECT rows FROM elsewhere",
		} {
			must(t, c, text)
		}
		fails(t, c, "SELECT broken FROM t", mysql.ERQueryInterrupted)
		st, err := c.Prepare("SELECT n FROM t WHERE b = ?")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := st.Execute("x'y\\"); err != nil || r.Err != nil {
			t.Fatalf("%+v, %v", r, err)
		}
		must(t, c, "SELECT rows FROM t -- last")
		mysqltest.WaitFor(t, "the last", func() bool { return copied.seen("last") })
		var got []string
		for _, text := range copied.texts {
			for _, table := range []string{" t", " w", " own", " elsewhere"} {
				if strings.Contains(text, table) {
					got = append(got, text)
					break
				}
			}
		}
		const want = `SELECT rows FROM t; SELECT multi FROM t WHERE a = 'it''s'; INSERT INTO w VALUES (2); DELETE FROM w; ` +
			`SELECT n FROM t WHERE b = 'x''y\\'; SELECT rows FROM t -- last`
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("mirrored: %s", s)
		}
		// A node that does not answer holds nobody up, this test's end included.
		for range 10 {
			must(t, c, "SELECT rows FROM t WHERE hang")
		}
		must(t, c, "SELECT '"+strings.Repeat("x", 1<<20)+"', rows FROM t")
		r := must(t, c, "SHOW KS QUERY_RULES LIKE 'copy'")
		if names, row := strings.Join(r.Names(), ","), r.Rows[0]; !strings.HasSuffix(names, ",mirrored,mirror_failed,mirror_dropped") ||
			row[len(row)-3] != "4" || row[len(row)-1] != "1" {
			t.Errorf("%s: %q", names, row)
		}
	}
}

// Changes that are mirrored leave the other server with the same rows, in transactions and without autocommit, too.
func TestRulesMirrorOnServers(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			var direct []*mysqltest.RawClient
			servers := nodesOf(t, kind)
			for _, server := range servers[:2] {
				c := dial(t, server.Addr, rootClient())
				must(t, c, "DROP DATABASE IF EXISTS mirrored")
				must(t, c, "CREATE DATABASE mirrored CHARACTER SET utf8mb4")
				must(t, c, "CREATE TABLE mirrored.w (id INT PRIMARY KEY, s VARCHAR(20), d DATETIME, f DOUBLE)")
				direct = append(direct, c)
			}
			addr := startProxyText(t, fmt.Sprintf("addr: 127.0.0.1:0\nuser_list: [{user: root, password: root}]\nnodes:\n"+
				"- {name: n, user: root, password: root, master: %q}\n- {name: m, user: root, password: root, master: %q}\n"+
				"schema_list: [{user: root, nodes: [n], default: n}]\nquery_rules: [{name: w, tables: [w], mirror: m, mirror_writes: true}]\n",
				servers[0].Addr, servers[1].Addr))
			login := rootClient()
			login.DB = "mirrored"
			c := dial(t, addr, login)
			must(t, c, "SET NAMES utf8mb4")
			must(t, c, "INSERT INTO w VALUES (1, 'it''s é', '2024-01-02 03:04:05', 1.5), (2, NULL, NULL, NULL)")
			st, err := c.Prepare("INSERT INTO w VALUES (?, ?, ?, ?)")
			if err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]any{{3, "a\\'b", "2024-01-02", 2.25}, {4, nil, nil, nil}} {
				if r, err := st.Execute(args...); err != nil || r.Err != nil {
					t.Fatalf("%+v, %v", r, err)
				}
			}
			must(t, c, "BEGIN")
			must(t, c, "UPDATE w SET s = CONCAT(s, '!') WHERE id = 3")
			must(t, c, "COMMIT")
			fails(t, c, "INSERT INTO w VALUES (3, NULL, NULL, NULL)", 1062)
			must(t, c, "SET autocommit = 0")
			must(t, c, "INSERT INTO w VALUES (5, 'last', NULL, NULL)")
			must(t, c, "COMMIT")
			const all = "SELECT * FROM mirrored.w ORDER BY id"
			mysqltest.WaitFor(t, "the last row", func() bool { return len(must(t, direct[1], all).Rows) == 5 })
			if want, got := fmt.Sprintf("%q", must(t, direct[0], all).Rows), fmt.Sprintf("%q", must(t, direct[1], all).Rows); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}
