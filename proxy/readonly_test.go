package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// readOnlyText is a configuration in which the user ks may only read, if so; with the tables u over two nodes.
func readOnlyText(addr string, readOnly bool, more ...string) string {
	text := configText([]node{{name: "n", master: addr, conns: 6}, {name: "m", master: addr, conns: 6}}, more...)
	ks := fmt.Sprintf("{user: ks, password: ks, multi_statements: true, local_infile: true, read_only: %v}", readOnly)
	text = strings.Replace(text, "{user: ks, password: ks}", ks, 1)
	head, _, _ := strings.Cut(text, "schema_list:")
	shard := "shard: [{db: " + database + ", table: u, key: id, nodes: [n, m], type: hash, locations: [1, 1]}]"
	head += "schema_list:\n"
	for _, user := range []string{"root", "ks"} {
		head += "  - {user: " + user + ", nodes: [n, m], default: n, " + shard + "}\n"
	}
	for _, line := range more {
		if !strings.Contains(head, line) {
			head += line + "\n"
		}
	}
	return head
}

// deniedWrites are statements that change something on a server, if they get there.
var deniedWrites = []string{
	"INSERT INTO t VALUES (9, 9)", "REPLACE INTO t VALUES (1, 9)", "UPDATE t SET v = 9", "DELETE FROM t", "TRUNCATE t", "DROP TABLE t",
	"INSERT INTO u VALUES (9, 9)", "UPDATE u SET v = 9", "DELETE FROM u", "DROP TABLE u", "ALTER TABLE u ADD x INT",
	"CREATE TABLE x (id INT)", "CREATE TEMPORARY TABLE x (id INT)", "SELECT effect(1)", "DO effect(1)", "SET @a = effect(1)", "CALL p()",
	"SELECT * FROM t WHERE effect(id)", "SELECT * FROM t FOR UPDATE", "SELECT v FROM u WHERE id = 1 FOR UPDATE", "SELECT * FROM t LOCK IN SHARE MODE",
	"SET GLOBAL max_connections = 77", "LOCK TABLES t WRITE", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t", "PREPARE s FROM 'DELETE FROM t'",
	"/*!50000 DELETE FROM t */", "SELECT * FROM t /*!50000 FOR UPDATE */", "WITH c AS (SELECT 1) DELETE FROM t", "XA START 'a'", "FLUSH TABLES", "nonsense",
	"/* n */ DELETE FROM t", "/*m*/ DELETE FROM t", "/*master*/ DELETE FROM t",
}

// A user who may only read changes nothing, in whatever way it asks, and reads as others do.
func TestReadOnlyUser(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
		for _, text := range []string{
			"CREATE TABLE t (id INT PRIMARY KEY, v INT)", "INSERT INTO t VALUES (1, 1), (2, 2)", "CREATE TABLE u_0000 (id INT PRIMARY KEY, v INT)",
			"CREATE TABLE u_0001 (id INT PRIMARY KEY, v INT)", "INSERT INTO u_0000 VALUES (2, 2)", "INSERT INTO u_0001 VALUES (1, 1)",
			"CREATE FUNCTION effect(a INT) RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO t VALUES (100 + a, 0); RETURN 1; END",
			"CREATE PROCEDURE p() INSERT INTO t VALUES (200, 0)",
		} {
			must(t, direct, text)
		}
		p := startProxy(t, readOnlyText(server.Addr, true))
		login := mysqltest.ClientConfig{User: "ks", Password: "ks", DB: database, Capabilities: mysqltest.ScriptCapabilities | mysql.ClientMultiStatements | mysql.ClientLocalFiles}
		c := dial(t, p.addr, login)
		for _, text := range deniedWrites {
			fails(t, c, text, mysql.ERTableaccessDenied)
			if st, err := c.Prepare(text); err == nil {
				t.Errorf("prepared: %s, %+v", text, st)
			} else if !isCode(err, mysql.ERTableaccessDenied) {
				t.Errorf("prepare %s: %v", text, err)
			}
		}
		// The statements of one text are looked at one by one.
		if r, err := c.Query("SELECT 1; DELETE FROM t"); err != nil || r.Next == nil || r.Next.Err == nil || r.Next.Err.Code != mysql.ERTableaccessDenied {
			t.Errorf("in a text of two: %+v, %v", r, err)
		}
		unchanged := func() {
			t.Helper()
			if got := value(t, direct, "SELECT (SELECT SUM(id * 1000 + v) FROM t), (SELECT SUM(v) FROM u_0000), (SELECT SUM(v) FROM u_0001)"); got != "3003,2,1" {
				t.Errorf("changed: %s", got)
			}
		}
		unchanged()
		for _, read := range [][2]string{
			{"SELECT SUM(v) FROM t", "3"}, {"SELECT SUM(v) FROM u", "3"}, {"SELECT v FROM u WHERE id = 2", "2"}, {"SELECT COUNT(*) FROM t a JOIN u b USING (id)", "2"},
			{"SELECT /*!50000 SQL_NO_CACHE */ v FROM t WHERE id = 1", "1"}, {"SELECT @a := 5", "5"}, {"SELECT @a", "5"},
		} {
			if got := value(t, c, read[0]); got != read[1] {
				t.Errorf("%s: %s", read[0], got)
			}
		}
		for _, text := range []string{
			"SET NAMES utf8mb4", "SET SESSION group_concat_max_len = 77", "BEGIN", "SELECT * FROM t", "SAVEPOINT a", "COMMIT", "START TRANSACTION READ ONLY", "ROLLBACK",
			"SHOW TABLES", "DESC t", "EXPLAIN SELECT * FROM t", "PREPARE s FROM 'SELECT v FROM t WHERE id = ?'", "SET @id = 2", "EXECUTE s USING @id",
			"DEALLOCATE PREPARE s", "DO SLEEP(0)", "USE " + database,
		} {
			must(t, c, text)
		}
		st, err := c.Prepare("SELECT v FROM t WHERE id = ?")
		if err != nil {
			t.Fatal(err)
		}
		if r, err := st.Execute(2); err != nil || r.Err != nil || fmt.Sprint(r.Rows) != "[[2]]" {
			t.Errorf("%+v, %v", r, err)
		}
		if packets, err := c.Command(mysql.ComDebug, ""); err != nil || !isDenied(packets) {
			t.Errorf("COM_DEBUG: %q, %v", packets, err)
		}
		// Others go on to write.
		must(t, p.client(database), "UPDATE t SET v = v WHERE id = 1")
		unchanged()
	})
}

// isDenied tells whether a response is the error of a user who may only read.
func isDenied(packets [][]byte) bool {
	var e mysql.SQLError
	return len(packets) == 1 && e.Decode(packets[0]) == nil && e.Code == mysql.ERTableaccessDenied && e.State == "42000"
}

// A reload holds for the next statement of the sessions that are there, for those in the fast lane and for what was prepared before, too.
func TestReadOnlyByReload(t *testing.T) {
	server := startScript(t, "script")
	for _, lane := range []string{"fast_lane: false", "fast_lane: true"} {
		free, bound := readOnlyText(server.Addr, false, lane), readOnlyText(server.Addr, true, lane)
		p := startProxy(t, free)
		c := dial(t, p.addr, mysqltest.ClientConfig{User: "ks", Password: "ks"})
		must(t, c, "UPDATE x SET a = 1")
		must(t, c, "PREPARE named FROM 'DELETE FROM x'")
		writes, err := c.Prepare("DELETE FROM x WHERE a = ?")
		if err != nil {
			t.Fatal(err)
		}
		reads, err := c.Prepare("SELECT a FROM x WHERE a = ?")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if r, err := writes.Execute(1); err != nil || r.Err != nil {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		p.reload(bound)
		server.Forget()
		for range 3 {
			fails(t, c, "UPDATE x SET a = 1", mysql.ERTableaccessDenied)
			fails(t, c, "EXECUTE named", mysql.ERTableaccessDenied)
			if r, err := writes.Execute(1); err != nil || r.Err == nil || r.Err.Code != mysql.ERTableaccessDenied {
				t.Errorf("%s: executed: %+v, %v", lane, r, err)
			}
			if r, err := reads.Execute(1); err != nil || r.Err != nil {
				t.Errorf("%s: %+v, %v", lane, r, err)
			}
		}
		for _, q := range server.Queries() {
			if strings.Contains(q, "UPDATE") || strings.Contains(q, "DELETE") || strings.Contains(q, "EXECUTE") {
				t.Errorf("%s: sent: %s", lane, q)
			}
		}
		p.reload(free)
		must(t, c, "UPDATE x SET a = 1")
		if r, err := writes.Execute(1); err != nil || r.Err != nil {
			t.Errorf("%s: after the next reload: %+v, %v", lane, r, err)
		}
	}
}
