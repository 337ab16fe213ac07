package session_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// globalConfig has tables whose UNIQUE keys hold over their shards though the rule does not name them.
const globalConfig = `
addr: 127.0.0.1:0
transaction_mode: best_effort
user_list: [{user: app, password: app}, {user: root, password: root}]
nodes:
  - {name: n0, max_conns_limit: 8, user: root, password: root, master: "%[1]s"}
  - {name: n1, max_conns_limit: 8, user: root, password: root, master: "%[2]s"}
schema_list:
  - user: app
    nodes: [n0, n1]
    default: n0
    shard:
      - {db: shop, table: u, key: id, type: hash, nodes: [n0, n1], locations: [1, 1], unique: global}
      - {db: shop, table: l, key: id, colocate_with: u, unique: [a, global]}
      - {db: shop, table: w, key: id, colocate_with: u, unique: local}
  - {user: root, nodes: [n0, n1], default: n0}
`

const globalTable = "CREATE TABLE u (id BIGINT PRIMARY KEY, a INT, b VARBINARY(9), email VARCHAR(40) COLLATE utf8mb4_general_ci, n INT, UNIQUE KEY mail (email), UNIQUE (b, a))"

// TestDefineGlobal runs DDL of tables with unique: global on MariaDB and on MySQL 9.
func TestDefineGlobal(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel() // it waits most of its time
			servers := []*mysqltest.RealServer{mysqltest.Shared(t, kind), startServer(t, kind), startServer(t, kind)}
			for _, part := range []struct {
				name string
				f    func(*testing.T, *ddlProxy)
			}{{"made", testGlobalMade}, {"added", testGlobalAdded}, {"refused", testGlobalRefused}, {"elsewhere", testGlobalElsewhere}} {
				t.Run(part.name, func(t *testing.T) {
					p := startDDLWith(t, servers, globalConfig)
					for _, n := range p.nodes {
						must(t, n, "DROP DATABASE IF EXISTS ks_meta")
					}
					part.f(t, p)
				})
			}
		})
	}
}

// given lists the keys over shards that proxies keep.
func (p *ddlProxy) given(t *testing.T) string {
	t.Helper()
	root := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root"})
	var names []string
	for _, row := range must(t, root, "SHOW KS INDEXES WHERE lookup <> 'ks_l_a'").Rows { // which the rule names
		names = append(names, fmt.Sprint(row[1], ".", row[2], " ", row[6]))
	}
	return strings.Join(names, ", ")
}

// duplicate wants error 1062 of a key.
func duplicate(t *testing.T, c *mysqltest.RawClient, sql, entry, key string) {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil || r.Err == nil || r.Err.Code != 1062 || !strings.Contains(r.Err.Message, "'"+entry+"'") || !strings.HasSuffix(r.Err.Message, key+"'") {
		t.Errorf("%s: %v, %+v\nwant %s of %s", sql, err, r, entry, key)
	}
}

// CREATE TABLE gives its UNIQUE keys indexes, and DROP TABLE takes them away.
func testGlobalMade(t *testing.T, p *ddlProxy) {
	must(t, p.c, globalTable)
	const kept = "ks_u_b_a_0000 ks_u_email_0000 u_0000 | ks_u_b_a_0001 ks_u_email_0001 u_0001"
	if got := p.tables(t); got != kept {
		t.Errorf("made: %s", got)
	}
	if got := p.given(t); got != "u.b_a built, u.email built" {
		t.Errorf("made: %s", got)
	}
	must(t, p.c, "INSERT INTO u (id, a, b, email) VALUES (1, 1, 'x', 'a@x')")
	duplicate(t, p.c, "INSERT INTO u (id, email) VALUES (2, 'A@X')", "A@X", "mail")
	duplicate(t, p.c, "INSERT INTO u (id, a, b) VALUES (2, 1, 'x')", "x-1", "b")
	must(t, p.c, "INSERT INTO u (id, a, b, email) VALUES (2, NULL, 'x', NULL)")
	if got := fmt.Sprint(must(t, p.c, "SHOW CREATE TABLE u").Rows); !strings.Contains(got, "UNIQUE KEY `mail` (`email`)") {
		t.Error(got)
	}
	fails(t, p.c, globalTable, 1050)
	must(t, p.c, "CREATE TABLE IF NOT EXISTS u (id INT PRIMARY KEY, n INT UNIQUE)")
	if got := p.given(t); got != "u.b_a built, u.email built" {
		t.Errorf("made again: %s", got)
	}
	must(t, p.c, "CREATE TABLE l LIKE u")
	duplicate(t, p.c, "INSERT INTO l (id, a, email) VALUES (1, 1, 'a@x'), (2, 2, 'a@x')", "a@x", "mail")
	duplicate(t, p.c, "INSERT INTO l (id, a) VALUES (1, 1), (2, 1)", "1", "a")
	must(t, p.c, "DROP TABLE l")
	must(t, p.c, "TRUNCATE TABLE u")
	must(t, p.c, "INSERT INTO u (id, email) VALUES (3, 'a@x')")
	must(t, p.c, "DROP TABLE u")
	if got := p.tables(t); got != " | " {
		t.Errorf("DROP: %s", got)
	}
	if got := p.given(t); got != "" {
		t.Errorf("DROP: %s", got)
	}
	must(t, p.c, "CREATE TABLE u (id BIGINT PRIMARY KEY, email VARCHAR(40), n INT, c INT UNIQUE)")
	if got := p.given(t); got != "u.c built" {
		t.Errorf("made otherwise: %s", got)
	}
	must(t, p.c, "INSERT INTO u (id, email) VALUES (1, 'a@x'), (2, 'a@x')")
	must(t, p.c, "DROP TABLE IF EXISTS u, w")
	fails(t, p.c, "CREATE TABLE u (id BIGINT PRIMARY KEY, n INT DEFAULT 'x', UNIQUE (n))", 1067)
	if got := p.tables(t) + p.given(t); got != " | " {
		t.Errorf("a table that could not be made left %s", got)
	}
	must(t, p.c, "CREATE TABLE u (id BIGINT PRIMARY KEY, email VARCHAR(40) UNIQUE)") // of the default collation
	duplicate(t, p.c, "INSERT INTO u VALUES (1, 'a@x'), (2, 'A@x')", "A@x", "email")
}

// A UNIQUE key that is added holds for the rows that are there; one that is dropped does not hold any more.
func testGlobalAdded(t *testing.T, p *ddlProxy) {
	must(t, p.c, "CREATE TABLE u (id BIGINT PRIMARY KEY, a INT, email VARCHAR(40) COLLATE utf8mb4_general_ci, n INT, KEY n (n))")
	must(t, p.c, "INSERT INTO u (id, a, email, n) VALUES (1, 1, 'a@x', 1), (2, 1, 'b@x', 2), (3, NULL, NULL, NULL)")
	if got := p.tables(t) + p.given(t); got != "u_0000 | u_0001" {
		t.Errorf("made: %s", got)
	}
	duplicate(t, p.c, "ALTER TABLE u ADD UNIQUE KEY k (a)", "1", "k")
	if got := p.tables(t) + p.given(t); got != "u_0000 | u_0001" {
		t.Errorf("a key that could not be added left %s", got)
	}
	must(t, p.c, "ALTER TABLE u ADD UNIQUE KEY mail (email), ADD UNIQUE (n), ADD COLUMN c INT")
	if got := p.given(t); got != "u.email built, u.n built" {
		t.Errorf("added: %s", got)
	}
	must(t, p.c, "BEGIN")
	duplicate(t, p.c, "INSERT INTO u (id, email) VALUES (4, 'A@x')", "A@x", "mail")
	duplicate(t, p.c, "UPDATE u SET n = 2 WHERE id = 1", "2", "n_2") // the server's name of the key
	must(t, p.c, "ROLLBACK")
	must(t, p.c, "CREATE UNIQUE INDEX pair ON u (email, c)")
	must(t, p.c, "ALTER TABLE u DROP INDEX mail")
	if got := p.given(t); got != "u.email_c built, u.n built" {
		t.Errorf("dropped: %s", got)
	}
	must(t, p.c, "UPDATE u SET email = 'a@x'")
	duplicate(t, p.c, "UPDATE u SET c = 1", "a@x-1", "pair")
	must(t, p.c, "ALTER TABLE u RENAME INDEX pair TO twin")
	duplicate(t, p.c, "UPDATE u SET c = 1", "a@x-1", "twin")
	must(t, p.c, "DROP INDEX twin ON u")
	fails(t, p.c, "ALTER TABLE u ADD UNIQUE KEY n (a)", 1062)
	must(t, p.c, "UPDATE u SET a = id")
	fails(t, p.c, "ALTER TABLE u ADD UNIQUE KEY n (a)", 1061)
	if got := p.given(t); got != "u.n built" {
		t.Errorf("a key whose name is there left %s", got)
	}
	must(t, p.c, "DROP TABLE u")
	if got := p.tables(t) + p.given(t); got != " | " {
		t.Errorf("DROP left %s", got)
	}
}

// What cannot hold over shards is refused, before anything is done.
func testGlobalRefused(t *testing.T, p *ddlProxy) {
	for sql, want := range map[string]string{
		"CREATE TABLE u (id INT PRIMARY KEY, a FLOAT UNIQUE)":                                                       "has the type float, by which rows cannot be placed",
		"CREATE TABLE u (id INT PRIMARY KEY, a VARCHAR(9), UNIQUE (a(3)))":                                          "of beginnings of columns",
		"CREATE TABLE u (id INT PRIMARY KEY, a VARCHAR(9) CHARSET cp1250 COLLATE cp1250_czech_cs UNIQUE)":           "with the collations cp1250_czech_cs, by which no texts can be placed in full",
		"CREATE TABLE u (id INT PRIMARY KEY, ks_a_column_of_so_many_letters_that_no_table_is_called_so INT UNIQUE)": "has 6",
		"CREATE TABLE l (id INT PRIMARY KEY, b INT UNIQUE)":                                                         "has the index a of a column a, which is not defined",
	} {
		refusedWith(t, p.c, sql, want)
	}
	if got := p.tables(t) + p.given(t); got != " | " {
		t.Errorf("left are %s", got)
	}
	must(t, p.c, "CREATE TABLE u (id BIGINT PRIMARY KEY, a INT UNIQUE, b INT, f FLOAT)")
	must(t, p.c, "CREATE TABLE w (id BIGINT PRIMARY KEY, a INT UNIQUE)")
	for sql, want := range map[string]string{
		"ALTER TABLE u ADD COLUMN c INT UNIQUE":                   "UNIQUE (c) of u, whose column c is not there: add it by a statement of its own first",
		"ALTER TABLE u MODIFY b BIGINT, ADD UNIQUE (b)":           "whose column b the same statement changes",
		"ALTER TABLE u MODIFY a BIGINT":                           "drop its UNIQUE key first, and add it afterwards",
		"ALTER TABLE u ADD UNIQUE (f)":                            "has the type float",
		"RENAME TABLE u TO w":                                     "RENAME of the table u, whose UNIQUE keys hold over its shards",
		"ALTER TABLE w RENAME TO u":                               "RENAME of the table u, whose UNIQUE keys hold over its shards",
		"DELETE FROM ks_u_a WHERE a = 1":                          "a change of the table ks_u_a",
		"UPDATE IGNORE u JOIN w ON u.id = w.id SET u.a = u.a + 1": "of which u has keys over all shards",
	} {
		refusedWith(t, p.c, sql, want)
	}
	if got := p.given(t); got != "u.a built" {
		t.Errorf("left are %s", got)
	}
	must(t, p.c, "INSERT INTO u (id, a) VALUES (1, 5), (2, 7)")
	must(t, p.c, "INSERT INTO w VALUES (1, 1)")
	must(t, p.c, "UPDATE u JOIN w ON u.id = w.id SET u.a = u.a + 1")
	if got := fmt.Sprint(must(t, p.c, "SELECT a, id FROM ks_u_a ORDER BY a").Rows); got != "[[6 1] [7 2]]" {
		t.Errorf("entries behind a change by rows of another table: %s", got)
	}
}

// Other proxies, and those that start later, keep the keys that one has made; those that DDL has dropped they keep no more.
func testGlobalElsewhere(t *testing.T, p *ddlProxy) {
	other := dial(t, p.serve(t, globalConfig).Addr().String(), mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
	must(t, p.c, "CREATE TABLE u (id BIGINT PRIMARY KEY, a INT, email VARCHAR(40) COLLATE utf8mb4_general_ci)")
	must(t, other, "INSERT INTO u VALUES (1, 1, 'a@x')")
	st, err := other.Prepare("INSERT INTO u VALUES (?, ?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := st.Execute(2, 2, "b@x"); err != nil || r.Err != nil {
		t.Fatal(err, r)
	}
	must(t, other, "BEGIN")
	must(t, p.c, "ALTER TABLE u ADD UNIQUE KEY mail (email)")
	duplicate(t, other, "INSERT INTO u VALUES (3, 3, 'A@x')", "A@x", "mail")
	must(t, other, "COMMIT")
	if r, err := st.Execute(3, 3, "B@x"); err != nil || r.Err == nil || r.Err.Code != 1062 {
		t.Errorf("an execution: %v, %+v", err, r)
	}
	must(t, other, "ALTER TABLE u ADD UNIQUE (a)")
	duplicate(t, p.c, "INSERT INTO u VALUES (3, 2, 'c@x')", "2", "a")
	later := dial(t, p.serve(t, globalConfig).Addr().String(), mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
	duplicate(t, later, "UPDATE u SET a = 1 WHERE id = 2", "1", "a")
	duplicate(t, later, "INSERT INTO u VALUES (3, 3, 'A@x')", "A@x", "mail")
	must(t, later, "DROP INDEX mail ON u")
	for id, c := range []*mysqltest.RawClient{p.c, other, later} {
		must(t, c, fmt.Sprintf("INSERT INTO u VALUES (%d, %d, 'a@x')", 10+id, 10+id))
	}
	must(t, other, "DROP TABLE u")
	must(t, later, "CREATE TABLE u (id BIGINT PRIMARY KEY, email VARCHAR(40) COLLATE utf8mb4_bin UNIQUE)")
	must(t, p.c, "INSERT INTO u VALUES (1, 'a@x'), (2, 'A@x')")
	duplicate(t, other, "INSERT INTO u VALUES (3, 'a@x')", "a@x", "email")
}

// While clients of two proxies change rows, each row has its entry from the moment that a key is there, and none is left of rows that are gone.
func TestDefineGlobalUnderLoad(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel() // it waits most of its time
			p := startDDLWith(t, []*mysqltest.RealServer{mysqltest.Shared(t, kind), startServer(t, kind), startServer(t, kind)}, globalConfig)
			must(t, p.c, "CREATE TABLE u (id BIGINT PRIMARY KEY, email VARCHAR(40) COLLATE utf8mb4_general_ci)")
			addrs := []string{p.addr, p.serve(t, globalConfig).Addr().String()}
			ctx, cancel := context.WithCancel(t.Context())
			var writing sync.WaitGroup
			defer writing.Wait()
			defer cancel()
			var ids, done atomic.Int64
			for n := range 2 {
				c := dial(t, addrs[n%2], mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
				other := dial(t, addrs[1-n], mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
				st, err := c.Prepare("INSERT INTO u VALUES (?, ?)")
				if err != nil {
					t.Fatal(err)
				}
				writing.Go(func() {
					for ctx.Err() == nil {
						id := ids.Add(3)
						texts := [][]string{
							{fmt.Sprintf("INSERT INTO u VALUES (%d, 'v%d')", id, id)},
							{fmt.Sprintf("INSERT INTO u VALUES (%d, 'v%d'), (%d, 'v%d'), (%d, NULL)", id, id, id+1, id+1, id+2)},
							{"BEGIN", fmt.Sprintf("INSERT INTO u VALUES (%d, 'v%d')", id, id), fmt.Sprintf("UPDATE u SET email = 'w%d' WHERE id = %d", id, id-300), "COMMIT"},
							{fmt.Sprintf("DELETE FROM u WHERE id IN (%d, %d)", id-600, id-601)},
							{fmt.Sprintf("UPDATE u SET email = CONCAT('x', id) WHERE id = %d", id-900)},
							{fmt.Sprintf("DELETE FROM u WHERE id BETWEEN %d AND %d ORDER BY id LIMIT 1", id-1200, id-1190)},
							nil,
						}[id/3%7]
						failed := false
						for _, sql := range texts {
							r, err := c.Query(sql)
							if err != nil {
								t.Errorf("%s: %v", sql, err)
								return
							}
							if r.Err != nil && !slices.Contains([]uint16{1205, 1213, 1412}, r.Err.Code) {
								t.Errorf("%s: %v", sql, r.Err)
							}
							failed = failed || r.Err != nil
							if r.Err != nil && len(texts) > 1 {
								must(t, c, "ROLLBACK")
								break
							}
							done.Add(1)
						}
						if id/3%7 < 2 && !failed {
							sql := fmt.Sprintf("SELECT id FROM u WHERE email = 'v%d'", id)
							if r, err := other.Query(sql); err != nil || fmt.Sprint(r.Rows) != fmt.Sprintf("[[%d]]", id) {
								t.Errorf("%s: %v, %+v", sql, err, r)
								return
							}
						}
						if texts == nil {
							if r, err := st.Execute(id, fmt.Sprintf("v%d", id)); err != nil || r.Err != nil && r.Err.Code != 1412 {
								t.Errorf("an execution: %v, %+v", err, r)
							}
						}
					}
				})
			}
			definer := dial(t, p.addr, mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop", Timeout: 2 * time.Minute})
			root := dial(t, addrs[1], mysqltest.ClientConfig{User: "root", Password: "root"})
			before := done.Load()
			mysqltest.WaitFor(t, "rows to change", func() bool { return done.Load() > before+200 })
			must(t, definer, "ALTER TABLE u ADD UNIQUE KEY email (email)")
			mysqltest.WaitFor(t, "the other proxy to know the key", func() bool { return p.given(t) == "u.email built" })
			if got := must(t, root, "KS INDEX VERIFY u email").Rows[0]; fmt.Sprint(got[5:8]) != "[0 0 0]" {
				t.Errorf("entries that are lacking, stale, and of values that are there twice: %v", got)
			}
			must(t, definer, "DROP INDEX email ON u")
			if got := p.given(t); got != "" {
				t.Errorf("left are %s", got)
			}
			must(t, definer, "ALTER TABLE u ADD UNIQUE KEY email (email)")
			cancel()
			writing.Wait()
			if got := must(t, root, "KS INDEX VERIFY u email").Rows[0]; fmt.Sprint(got[5:8]) != "[0 0 0]" {
				t.Errorf("entries that are lacking, stale, and of values that are there twice: %v", got)
			}
			t.Logf("%d statements changed rows", done.Load())
		})
	}
}
