package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// quotaProxy is a proxy over two nodes with users of limits: few rows, or few bytes.
func quotaProxy(t *testing.T, kind mysqltest.Kind) (addr string) {
	servers := nodesOf(t, kind)
	login := mysqltest.ClientConfig{User: "root", Password: "root", DB: ""}
	for k, server := range servers[:2] {
		c := dial(t, server.Addr, login)
		must(t, c, "DROP DATABASE IF EXISTS quota")
		must(t, c, "CREATE DATABASE quota")
		must(t, c, fmt.Sprintf("CREATE TABLE quota.u_%04d (id INT PRIMARY KEY, v INT)", k))
		must(t, c, "CREATE TABLE quota.d (id INT PRIMARY KEY)")
		must(t, c, "INSERT INTO quota.d VALUES (0)"+rowsFrom(1, 100))
		const some = "SELECT REPEAT('x', 900) FROM quota.d WHERE id < 80; "
		must(t, c, "CREATE PROCEDURE quota.p() BEGIN "+some+some+some+"END")
	}
	text := fmt.Sprintf("addr: 127.0.0.1:0\nuser_list:\n- {user: rows, password: x, max_rows: 100}\n- {user: bytes, password: x, max_bytes: 100K}\n"+
		"- {user: free, password: x}\nnodes:\n- {name: n0, user: root, password: root, master: %q}\n- {name: n1, user: root, password: root, master: %q}\nschema_list:\n",
		servers[0].Addr, servers[1].Addr)
	for _, user := range []string{"rows", "bytes", "free"} {
		text += "- {user: " + user + ", nodes: [n0, n1], default: n0, shard: [{db: quota, table: u, key: id, type: hash, nodes: [n0, n1], locations: [1, 1]}]}\n"
	}
	addr = startProxyText(t, text)
	c := dial(t, addr, mysqltest.ClientConfig{User: "free", Password: "x", DB: "quota"})
	must(t, c, "INSERT INTO u VALUES (0, 0)"+strings.ReplaceAll(rowsFrom(1, 3000), ")", ", 0)"))
	return addr
}

// rowsFrom gives (from), ... (to-1) behind commas.
func rowsFrom(from, to int) string {
	var b strings.Builder
	for k := from; k < to; k++ {
		fmt.Fprintf(&b, ", (%d)", k)
	}
	return b.String()
}

// An answer that is more than its user's limit ends with an error, however long the rest is; the session, its transaction and the
// connections of others are as ever.
func TestAnswerLimits(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			addr := quotaProxy(t, kind)
			for user, limit := range map[string]string{"rows": "max_rows", "bytes": "max_bytes"} {
				c := dial(t, addr, mysqltest.ClientConfig{User: user, Password: "x", DB: "quota", Capabilities: mysqltest.ScriptCapabilities | mysql.ClientMultiStatements})
				over := func(what string, r *mysqltest.RawResult, err error) {
					t.Helper()
					want := "User '" + user + "' has exceeded the '" + limit + "' resource"
					if err != nil || r.Err == nil || r.Err.Code != mysql.ERUserLimitReached || r.Err.Message != want {
						t.Fatalf("%s: %v, %v", what, r, err)
					}
				}
				for _, sql := range []string{
					"SELECT REPEAT('x', 2000) FROM d a, d b", // the rest is short
					"SELECT REPEAT('x', 2000) FROM d a, d b, d c",
					"SELECT id, REPEAT('x', 20000) FROM u",
					"SELECT id, REPEAT('x', 20000) AS r FROM u ORDER BY id",
					"SELECT a.id, REPEAT('x', 2000) FROM u a JOIN u b ON a.v = b.v WHERE a.id < 500",
					"SELECT id, REPEAT('x', 60000) FROM u WHERE id = 7 UNION ALL SELECT a.id, REPEAT('x', 2000) FROM d a, d b, d c",
				} {
					must(t, c, "BEGIN")
					must(t, c, "UPDATE u SET v = v + 1 WHERE id = 7")
					for range 2 {
						r, err := c.Query(sql)
						over(sql, r, err)
						if r := must(t, c, "SELECT v FROM u WHERE id = 7"); r.Rows[0][0] != "1" || !r.Status.Has(mysql.ServerStatusInTrans) {
							t.Fatalf("%s: the transaction is gone: %q", sql, r.Rows)
						}
					}
					must(t, c, "ROLLBACK")
					r, err := c.Query(sql)
					over(sql, r, err)
					if r := must(t, c, "SHOW WARNINGS"); len(r.Rows) != 1 || r.Rows[0][1] != "1226" {
						t.Errorf("%s: %q", sql, r.Rows)
					}
					if r := must(t, c, "SELECT v FROM u WHERE id = 7"); r.Rows[0][0] != "0" {
						t.Errorf("%q", r.Rows)
					}
				}
				// As much as is allowed, and what is for nobody's eyes.
				if r := must(t, c, "SELECT id FROM u WHERE id < 100"); len(r.Rows) != 100 {
					t.Errorf("%d rows", len(r.Rows))
				}
				must(t, c, "SELECT COUNT(*) FROM u a JOIN u b ON a.id = b.id + 1")
				st, err := c.Prepare("SELECT REPEAT('x', ?) FROM d a, d b, d c")
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					r, err := st.Execute("2000")
					over("prepared", r, err)
				}
				cursor, err := c.Prepare("SELECT a.id, REPEAT('x', 2000) FROM d a, d b")
				if err != nil {
					t.Fatal(err)
				}
				if r, err := cursor.OpenCursor(); err != nil || r.Err != nil {
					t.Fatal(r, err)
				}
				if r, err := cursor.Fetch(40); err != nil || r.Err != nil || len(r.Rows) != 40 {
					t.Fatalf("%v, %v", r, err)
				}
				r, err := cursor.Fetch(100)
				over("cursor", r, err)
				if r, err := cursor.Fetch(1); err != nil || r.Err == nil || r.Err.Code != mysql.ERStmtHasNoOpenCursor {
					t.Errorf("the cursor is open: %v, %v", r, err)
				}
				// The results of one statement count together.
				for range 2 {
					r, err := c.Query("CALL p()")
					if err != nil || r.Err != nil || len(r.Rows) != 80 || r.Next == nil {
						t.Fatalf("%v, %v", r, err)
					}
					over("CALL", r.Next, nil)
				}
				must(t, c, "SELECT 1")
			}
		})
	}
}

// A long rest of an answer that nobody wants does not cost the transaction.
func TestLongRestInTransaction(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			c := dial(t, quotaProxy(t, kind), mysqltest.ClientConfig{User: "free", Password: "x", DB: "quota"})
			must(t, c, "BEGIN")
			must(t, c, "UPDATE u SET v = v + 1 WHERE id = 7")
			for range 2 {
				if r := must(t, c, "SELECT id, REPEAT('x', 20000) FROM u LIMIT 1400"); len(r.Rows) != 1400 {
					t.Errorf("%d rows", len(r.Rows))
				}
				if r := must(t, c, "SELECT v FROM u WHERE id = 7"); r.Rows[0][0] != "1" || !r.Status.Has(mysql.ServerStatusInTrans) {
					t.Errorf("the transaction is gone: %q", r.Rows)
				}
			}
		})
	}
}
