package session_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// copiesRig is a proxy with tables that are whole on two servers.
type copiesRig struct {
	addr  string
	c     *mysqltest.RawClient
	nodes [2]*mysqltest.RawClient
}

// copiesConfig has reference tables only.
const copiesConfig = `
addr: 127.0.0.1:0
transaction_mode: %s
xa_on_unsafe_server: true
user_list: [{user: root, password: root, local_infile: true}]
nodes:
  - {name: n0, max_conns_limit: 24, user: root, password: root, master: "%s"}
  - {name: n1, max_conns_limit: 24, user: root, password: root, master: "%s"}
schema_list:
  - user: root
    nodes: [n0, n1]
    default: n0
    shard:
      - {db: shop, table: r, type: reference}
      - {db: shop, table: s, type: reference}
      - {db: shop, table: p, type: reference}
`

// copiesLogin is of clients that may send files.
var copiesLogin = mysqltest.ClientConfig{User: "root", Password: "root", Capabilities: mysqltest.ScriptCapabilities&^(mysql.ClientConnectWithDB|mysql.ClientFoundRows) | mysql.ClientLocalFiles}

// onCopies runs a test on MariaDB and on MySQL 9, with and without transactions over nodes.
func onCopies(t *testing.T, f func(t *testing.T, r *copiesRig), settings ...map[string]string) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := [2]*mysqltest.RealServer{mysqltest.Shared(t, kind)}
			config := mysqltest.ServerConfig{Kind: kind, Settings: map[string]string{"local-infile": "1"}}
			for _, s := range settings {
				for name, value := range s {
					config.Settings[name] = value
				}
			}
			other, err := mysqltest.StartServer(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = other.Stop() })
			servers[1] = other
			for _, mode := range []string{"atomic", "single"} {
				t.Run(mode, func(t *testing.T) { f(t, startCopies(t, servers, mode)) })
			}
		})
	}
}

func startCopies(t *testing.T, servers [2]*mysqltest.RealServer, mode string) *copiesRig {
	t.Helper()
	r := &copiesRig{}
	for k, s := range servers {
		r.nodes[k] = dial(t, s.Addr, copiesLogin)
		for _, sql := range []string{"DROP DATABASE IF EXISTS shop", "DROP DATABASE IF EXISTS ks_meta", "CREATE DATABASE shop CHARACTER SET utf8mb4", "USE shop", "SET GLOBAL local_infile = 1", "SET time_zone = '+00:00'"} {
			must(t, r.nodes[k], sql)
		}
	}
	r.addr = startProxyText(t, fmt.Sprintf(copiesConfig, mode, servers[0].Addr, servers[1].Addr))
	r.c = r.client(t)
	for _, sql := range []string{
		"CREATE TABLE r (id INT PRIMARY KEY, v INT, name VARCHAR(60) UNIQUE, at TIMESTAMP(6) NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), made DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6))",
		"CREATE TABLE s (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) UNIQUE, n INT NOT NULL DEFAULT 7, at TIMESTAMP(6) NULL DEFAULT CURRENT_TIMESTAMP(6))",
		"CREATE TABLE p (v INT, name VARCHAR(60))",
	} {
		must(t, r.c, sql)
	}
	t.Cleanup(func() { r.same(t, "at the end") })
	return r
}

func (r *copiesRig) client(t *testing.T) *mysqltest.RawClient {
	t.Helper()
	c := dial(t, r.addr, copiesLogin)
	must(t, c, "USE shop")
	return c
}

// same compares all copies row by row.
func (r *copiesRig) same(t *testing.T, when string) {
	t.Helper()
	for _, table := range []string{"r", "s", "p"} {
		var rows [2]string
		for k, n := range r.nodes {
			rows[k] = fmt.Sprint(must(t, n, "SELECT * FROM "+table+" ORDER BY 1, 2").Rows)
		}
		if rows[0] != rows[1] {
			t.Errorf("%s: the copies of %s differ:\n%s\n%s", when, table, rows[0], rows[1])
		}
	}
}

// What a server makes by itself, its time and its ids, is the same in all copies.
func TestCopiesAreEqual(t *testing.T) {
	onCopies(t, func(t *testing.T, r *copiesRig) {
		// Servers that have come to other ids.
		must(t, r.nodes[0], "INSERT INTO s (id, name) VALUES (50, 'x')")
		must(t, r.nodes[0], "DELETE FROM s")
		for _, sql := range []string{
			"INSERT INTO r (id, v) VALUES (1, 1), (2, 2), (3, 3)",
			"INSERT INTO r (id, v, name) VALUES (4, UNIX_TIMESTAMP(), NOW(6)), (5, 5, CONCAT('u', UTC_TIMESTAMP(6))), (6, 6, CURTIME(6))",
			"UPDATE r SET v = v + 1 WHERE id < 3",
			"UPDATE r SET made = NOW(6) WHERE id = 1",
			"UPDATE r SET made = LOCALTIMESTAMP(6) ORDER BY v DESC, id LIMIT 2",
			"REPLACE INTO r (id, v) VALUES (1, 7), (9, 9)",
			"INSERT INTO r (id, v) VALUES (1, 8), (10, 1) ON DUPLICATE KEY UPDATE v = VALUES(v), made = NOW(6)",
			"INSERT IGNORE INTO r (id, v) VALUES (1, 8), (11, 1)",
			"INSERT INTO r (id, v) SELECT id + 100, v FROM r AS other",
			"DELETE FROM r ORDER BY id DESC LIMIT 2",
			"INSERT INTO s (name) VALUES ('a')", "INSERT INTO s (name) VALUES ('b'), ('c')", "INSERT INTO s SET name = 'd'", "INSERT INTO s VALUES (NULL, 'e', 1, NOW(6)), (0, 'f', 1, NULL)",
			"INSERT INTO s (name) VALUES ('a'), ('g') ON DUPLICATE KEY UPDATE n = n + 1", "INSERT IGNORE INTO s (name) VALUES ('a'), ('h')", "REPLACE INTO s (name) VALUES ('a'), ('i')",
			"INSERT INTO s (id, name) VALUES (1000000, 'j')", "INSERT INTO s (name) VALUES ('k')", "INSERT INTO s (id, name) SELECT id + 5000, NULL FROM r AS other",
			"UPDATE s SET id = id + 100000 WHERE name = 'k'", "INSERT INTO s (name) VALUES ('l')",
			"INSERT INTO p VALUES (1, NOW(6)), (1, NOW(6))", "UPDATE p SET v = 2", "INSERT INTO p SELECT v + 1, name FROM p AS other",
		} {
			must(t, r.c, sql)
			r.same(t, sql)
		}
		// A LAST_INSERT_ID() of one server, and ids that follow each other.
		told := must(t, r.c, "INSERT INTO s (name) VALUES ('m'), ('n')").OK.LastInsertID
		if got := mustInt(t, r.c, "SELECT LAST_INSERT_ID()"); uint64(got) != told || mustInt(t, r.nodes[1], "SELECT id FROM s WHERE name = 'm'") != got {
			t.Errorf("told %d, LAST_INSERT_ID() is %d", told, got)
		}
		// One that fails on a node only, with ids that are used up there.
		must(t, r.nodes[1], "INSERT INTO s (id, name) VALUES (3000000, 'only')")
		fails(t, r.c, "INSERT INTO s (name) VALUES ('only')", mysql.ERDupEntry)
		must(t, r.nodes[1], "DELETE FROM s WHERE id = 3000000")
		must(t, r.c, "INSERT INTO s (name) VALUES ('only')")

		st, err := r.c.Prepare("INSERT INTO s (name, n) VALUES (?, ?), (?, 1)")
		if err != nil {
			t.Fatal(err)
		}
		for k := range 3 {
			if res, err := st.Execute(fmt.Sprint("x", k), k, fmt.Sprint("y", k)); err != nil || res.Err != nil {
				t.Fatal(err, res)
			}
		}
		r.same(t, "prepared")
		for _, sql := range []string{"LOAD DATA LOCAL INFILE 'x' INTO TABLE s FIELDS TERMINATED BY ',' (name)", "LOAD DATA LOCAL INFILE 'x' INTO TABLE r FIELDS TERMINATED BY ',' (id) SET made = NOW(6)"} {
			res, err := r.c.Query(sql)
			if err == nil && res.LocalInfile != "" {
				res, err = r.c.SendFile([]byte("70001\n70002\n70003\n"))
			}
			if err != nil || res.Err != nil {
				t.Fatal(sql, err, res)
			}
			r.same(t, sql)
		}
		// The clocks go on behind it.
		a := must(t, r.c, "SELECT NOW(6)").Rows[0][0]
		if b := must(t, r.c, "SELECT NOW(6)").Rows[0][0]; a == b {
			t.Error("the clock stands still at", a)
		}
		must(t, r.c, "SET timestamp = 1000000000.5")
		must(t, r.c, "INSERT INTO r (id, name) VALUES (777, NOW())")
		if got := must(t, r.c, "SELECT name FROM r WHERE id = 777").Rows[0][0]; !strings.HasPrefix(got.(string), "2001-09-") {
			t.Error("the client's own time is", got)
		}
		must(t, r.c, "SET timestamp = DEFAULT")
		must(t, r.c, "ALTER TABLE r ADD filled TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6)")
		r.same(t, "ALTER TABLE")
		if a, b := must(t, r.c, "SELECT NOW(6)").Rows[0][0], must(t, r.c, "SELECT NOW(6)").Rows[0][0]; a == b {
			t.Error("behind ALTER TABLE the clock stands still at", a)
		}
		must(t, r.c, "TRUNCATE TABLE s")
		must(t, r.c, "INSERT INTO s (name) VALUES ('again')")
		if got := mustInt(t, r.c, "SELECT id FROM s"); got != 1 {
			t.Errorf("behind TRUNCATE the first id is %d", got)
		}
	})
}

// In transactions, too, which go on with the clock that goes on.
func TestCopiesInTransactions(t *testing.T) {
	onCopies(t, func(t *testing.T, r *copiesRig) {
		must(t, r.c, "BEGIN")
		res, err := r.c.Query("INSERT INTO r (id, v) VALUES (1, 1)")
		if err != nil {
			t.Fatal(err)
		}
		if res.Err != nil { // transactions change one node
			if res.Err.Code != 9004 {
				t.Error(res.Err)
			}
			must(t, r.c, "ROLLBACK")
			return
		}
		for _, sql := range []string{
			"UPDATE r SET made = NOW(6)", "INSERT INTO s (name) VALUES ('a'), ('b')", "SAVEPOINT one", "INSERT INTO s (name) VALUES ('c')", "DELETE FROM r", "ROLLBACK TO one",
			"INSERT INTO r (id, v) SELECT id + 10, v FROM r AS other",
		} {
			must(t, r.c, sql)
		}
		a := must(t, r.c, "SELECT NOW(6)").Rows[0][0]
		if b := must(t, r.c, "SELECT NOW(6)").Rows[0][0]; a == b {
			t.Error("the clock stands still at", a)
		}
		must(t, r.c, "COMMIT")
		must(t, r.c, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
		must(t, r.c, "BEGIN")
		must(t, r.c, "UPDATE r SET v = v + 1 WHERE id > 0")
		fails(t, r.c, "INSERT INTO r (id, v) SELECT id + 20, v FROM r AS other", 9012)
		fails(t, r.c, "DELETE FROM r ORDER BY id LIMIT 1", 9012)
		must(t, r.c, "COMMIT")
	})
}

// Copies that differ are said to, and no statement makes them differ any more.
func TestCopiesThatDiffer(t *testing.T) {
	onCopies(t, func(t *testing.T, r *copiesRig) {
		must(t, r.c, "INSERT INTO r (id, v, name) VALUES (1, 1, 'a'), (2, 2, 'b')")
		must(t, r.nodes[1], "DELETE FROM r WHERE id = 2")
		for _, sql := range []string{"UPDATE r SET v = 5", "DELETE FROM r WHERE v > 0", "REPLACE INTO r (id, v) VALUES (2, 9)", "INSERT INTO r (id, v) VALUES (2, 9) ON DUPLICATE KEY UPDATE v = 9", "INSERT IGNORE INTO r (id) VALUES (2)"} {
			fails(t, r.c, sql, 9018)
		}
		if got := mustInt(t, r.nodes[0], "SELECT SUM(v) FROM r"); got != 3 {
			t.Errorf("the sum is %d", got)
		}
		must(t, r.c, "UPDATE r SET v = 5 WHERE id = 1")
		must(t, r.nodes[0], "DELETE FROM r WHERE id = 2")
	})
}

// A change of several rows and others that come between the nodes: below REPEATABLE READ no gaps are locked.
func TestCopiesUnderReadCommitted(t *testing.T) {
	onCopies(t, func(t *testing.T, r *copiesRig) {
		var writers sync.WaitGroup
		for w := range 6 {
			c := r.client(t)
			must(t, c, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
			writers.Go(func() {
				for k := range 60 {
					sql := fmt.Sprintf("INSERT INTO r (id, v) VALUES (%d, %d)", w*1000+k, k%3)
					switch {
					case w == 0:
						sql = "UPDATE r SET v = v + 1 WHERE v = 1"
					case w == 1 && k%2 == 0:
						sql = "DELETE FROM r WHERE v = 2"
					case w == 1:
						sql = fmt.Sprintf("INSERT INTO p (v) SELECT COUNT(*) FROM r WHERE v = %d", k%3)
					}
					if _, err := c.Query(sql); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		writers.Wait()
	})
}

// Servers that would make different things of a statement are found before it is sent.
func TestCopiesOfServersThatDiffer(t *testing.T) {
	onCopies(t, func(t *testing.T, r *copiesRig) {
		fails(t, r.c, "INSERT INTO r (id, name) VALUES (1, NOW())", 9012)
		fails(t, r.c, "INSERT INTO r (id) VALUES (1)", 9012)
		must(t, r.c, "SET time_zone = '+02:00', div_precision_increment = 4")
		must(t, r.c, "INSERT INTO r (id, name) VALUES (1, NOW())")
		must(t, r.c, "SET time_zone = DEFAULT")
		fails(t, r.c, "DELETE FROM r", 9012)
	}, map[string]string{"default-time-zone": "+05:00", "div-precision-increment": "7"})
}
