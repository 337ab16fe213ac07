package session_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"kingshard/config"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/querylog"
)

// indexedConfig has a table with keys over its shards, and one whose UNIQUE keys are each shard's own.
const indexedConfig = `
addr: 127.0.0.1:0
web_addr: 127.0.0.1:0
web_tokens: [{name: op, token: operoperoperoperoper, rights: operate}]
user_list: [{user: app, password: app}, {user: root, password: root}]
nodes:
  - {name: n0, max_conns_limit: 8, user: root, password: root, master: "%[1]s"}
  - {name: n1, max_conns_limit: 8, user: root, password: root, master: "%[2]s"}
schema_list:
  - user: app
    nodes: [n0, n1]
    default: n0
    shard:
      - {db: shop, table: u, key: id, type: hash, nodes: [n0, n1], locations: [1, 1], unique: [{columns: email, strings: utf8mb4_general_ci_v1}, [b, a]], lookup: [a]}
      - {db: shop, table: l, key: id, colocate_with: u, unique: local, lookup: [a]}
      - {db: shop, table: w, key: id, colocate_with: u}
      - {db: shop, table: r, type: reference}
  - {user: root, nodes: [n0, n1], default: n0}
`

const indexedTable = "CREATE TABLE u (id BIGINT PRIMARY KEY, a INT UNSIGNED, b VARBINARY(9), email VARCHAR(40) COLLATE utf8mb4_general_ci, n FLOAT, UNIQUE KEY mail (email), UNIQUE (a, b))"

// TestDefineIndexed runs DDL of tables with keys over their shards on MariaDB and on MySQL 9.
func TestDefineIndexed(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := []*mysqltest.RealServer{mysqltest.Shared(t, kind), startServer(t, kind), startServer(t, kind)}
			for _, part := range []struct {
				name string
				f    func(*testing.T, *ddlProxy)
			}{{"made", testIndexesMade}, {"refused", testIndexesRefused}, {"hidden", testIndexesHidden}, {"administered", testIndexesAdministered}} {
				t.Run(part.name, func(t *testing.T) {
					p := startDDLWith(t, servers, indexedConfig)
					for _, n := range p.nodes {
						must(t, n, "DROP DATABASE IF EXISTS ks_meta")
					}
					part.f(t, p)
				})
			}
		})
	}
}

// The tables that keep indexes come and go with theirs, and a statement that fails leaves nothing behind.
func testIndexesMade(t *testing.T, p *ddlProxy) {
	const kept = "ks_u_a_0000 ks_u_b_a_0000 ks_u_email_0000 u_0000 | ks_u_a_0001 ks_u_b_a_0001 ks_u_email_0001 u_0001"
	must(t, p.c, indexedTable)
	if got := p.tables(t); got != kept {
		t.Errorf("made: %s", got)
	}
	for table, want := range map[string]string{
		"ks_u_email_0001": "email varchar(40) utf8mb4_general_ci NO, id bigint NULL NO; mail email",
		"ks_u_b_a_0000":   "a int unsigned NULL NO, b varbinary(9) NULL NO, id bigint NULL NO; a a, a b",
		"ks_u_a_0000":     "a int unsigned NULL NO, id bigint NULL NO, ks_rows bigint NULL NO; PRIMARY a, PRIMARY id",
	} {
		n := p.nodes[map[bool]int{true: 1}[strings.HasSuffix(table, "1")]]
		columns := column(must(t, n, "SELECT GROUP_CONCAT(COLUMN_NAME, ' ', REGEXP_REPLACE(COLUMN_TYPE, 'int\\\\([0-9]+\\\\)', 'int'), ' ', IFNULL(COLLATION_NAME, 'NULL'), ' ', IS_NULLABLE ORDER BY ORDINAL_POSITION SEPARATOR ', ') "+
			"FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' AND COLUMN_DEFAULT IS NULL AND TABLE_NAME = '"+table+"'"))
		keys := column(must(t, n, "SELECT GROUP_CONCAT(INDEX_NAME, ' ', COLUMN_NAME ORDER BY INDEX_NAME, SEQ_IN_INDEX SEPARATOR ', ') FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'shop' AND NON_UNIQUE = 0 AND TABLE_NAME = '"+table+"'"))
		if got := columns + "; " + keys; got != want {
			t.Errorf("%s: %s\nwant %s", table, got, want)
		}
	}
	if got := fmt.Sprint(must(t, p.nodes[0], "SELECT db, name, key_name, state FROM ks_meta.indexes WHERE name = 'u' ORDER BY key_name").Rows); got != "[[shop u a built] [shop u b_a built] [shop u email built]]" {
		t.Errorf("the records are %s", got)
	}
	fails(t, p.c, indexedTable, 1050)
	must(t, p.c, "CREATE TABLE IF NOT EXISTS u (id INT PRIMARY KEY, a INT, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin)")
	must(t, p.c, "CREATE TABLE l LIKE u")
	if got := p.tables(t); got != "ks_l_a_0000 ks_u_a_0000 ks_u_b_a_0000 ks_u_email_0000 l_0000 u_0000 | ks_l_a_0001 ks_u_a_0001 ks_u_b_a_0001 ks_u_email_0001 l_0001 u_0001" {
		t.Errorf("LIKE: %s", got)
	}
	must(t, p.c, "DROP TABLE l")
	for k, n := range p.nodes {
		must(t, n, fmt.Sprintf("INSERT INTO ks_u_email_%04d VALUES ('x', 1)", k))
		must(t, n, fmt.Sprintf("INSERT INTO u_%04d (id) VALUES (1)", k))
	}
	must(t, p.c, "TRUNCATE TABLE u")
	if got := p.tables(t); got != kept {
		t.Errorf("TRUNCATE: %s", got)
	}
	for k, n := range p.nodes {
		if got := column(must(t, n, fmt.Sprintf("SELECT (SELECT COUNT(*) FROM ks_u_email_%04d) + (SELECT COUNT(*) FROM u_%04d)", k, k))); got != "0" {
			t.Errorf("%s rows are left", got)
		}
	}
	must(t, p.c, "DROP TABLE IF EXISTS u, w")
	if got := p.tables(t); got != " | " {
		t.Errorf("DROP: %s", got)
	}
	fails(t, p.c, "DROP TABLE u", 1051)
	fails(t, p.c, "TRUNCATE TABLE u", 1146)
	fails(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY, a INT, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin, n INT DEFAULT 'x')", 1067)
	fails(t, p.c, "CREATE TABLE u (id INT PRIMARY KEY, a VARBINARY(4000), b INT, email VARCHAR(30) COLLATE utf8mb4_bin)", 1071)
	if r := must(t, p.c, "ADMIN DDL LIST"); p.tables(t) != " | " || len(r.Rows) > 0 {
		t.Errorf("a table that could not be made left %s, %v", p.tables(t), r.Rows)
	}
	must(t, p.nodes[1], "CREATE TABLE ks_u_email_0001 (email VARCHAR(40) NOT NULL, id BIGINT NOT NULL)")
	must(t, p.nodes[1], "INSERT INTO ks_u_email_0001 VALUES ('x', 1)")
	refusedWith(t, p.c, indexedTable, "n1/shop.ks_u_email_0001, which keeps the index email of shop.u, has entries of rows that are gone")
	must(t, p.c, "DROP TABLE IF EXISTS u")
	must(t, p.c, indexedTable)
}

// refusedWith wants a statement to be refused with a text.
func refusedWith(t *testing.T, c *mysqltest.RawClient, sql, want string) {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil || r.Err == nil || r.Err.Code != 9012 || !strings.Contains(r.Err.Message, want) {
		t.Errorf("%s: %v, %+v\nwant %s", sql, err, r, want)
	}
}

// What an index could not be kept for is refused, and what would hold inside each shard only unless the rule says so.
func testIndexesRefused(t *testing.T, p *ddlProxy) {
	for sql, want := range map[string]string{
		"CREATE TABLE u (id INT PRIMARY KEY, a INT, b BINARY(3))":                                                                                              "has the index email of a column email, which is not defined",
		"CREATE TABLE u (id INT PRIMARY KEY, a FLOAT, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin)":                                                     "has the type float, by which rows cannot be placed",
		"CREATE TABLE u (id INT PRIMARY KEY, a INT, b TEXT, email VARCHAR(30) COLLATE utf8mb4_bin)":                                                            "has the type text",
		"CREATE TABLE u (id INT PRIMARY KEY, a INT, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_unicode_ci)":                                                "has the collation utf8mb4_unicode_ci, which calls texts equal that the index, with strings: utf8mb4_general_ci_v1, places apart: give it a _bin collation, or the index strings: utf8mb4_unicode_ci_v1",
		"CREATE TABLE u (id INT PRIMARY KEY, a INT, b VARCHAR(3), email VARCHAR(30) COLLATE utf8mb4_bin)":                                                      "the column b of the index b_a of u has the collation utf8mb4_",
		"CREATE TABLE u (id INT PRIMARY KEY, a INT UNIQUE, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin)":                                                "UNIQUE (a) of u, without the sharding key (id), would hold inside each sub-table only: name it in the rule, as unique: [[a]], to have it hold over all of them, or say unique: global or unique: local there",
		"CREATE TABLE u (id INT, a INT, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin, UNIQUE (b), PRIMARY KEY(id))":                                      "UNIQUE (b) of u",
		"CREATE TABLE u (id INT, a INT, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin, UNIQUE (email(3)))":                                                "of beginnings of columns",
		"CREATE TABLE w (id INT PRIMARY KEY, a INT UNIQUE)":                                                                                                    "UNIQUE (a) of w",
		"CREATE TABLE u (id INT PRIMARY KEY, n INT, a INT AS (n + 1), b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin)":                                     "the column a of u, whose index b_a has its values",
		"CREATE TABLE u (id INT PRIMARY KEY, a INT, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin, FOREIGN KEY (a) REFERENCES r (id) ON DELETE SET NULL)": "the column a of u",
		"CREATE TABLE u (id INT PRIMARY KEY, a INT, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin, FOREIGN KEY (a) REFERENCES r (id) ON UPDATE CASCADE)":  "the column a of u",
		"CREATE TABLE u (id INT PRIMARY KEY REFERENCES r (id) ON UPDATE CASCADE, a INT, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin)":                   "the column id of u",
		"CREATE TABLE u (id INT PRIMARY KEY, a INT, b BINARY(3), email VARCHAR(30) COLLATE utf8mb4_bin, n INT REFERENCES r (id) ON DELETE CASCADE)":            "ON DELETE CASCADE in u",
	} {
		refusedWith(t, p.c, sql, want)
	}
	must(t, p.c, indexedTable)
	must(t, p.c, "CREATE TABLE l (id INT PRIMARY KEY, a INT UNIQUE, n INT)")
	must(t, p.c, "ALTER TABLE l ADD UNIQUE (n)")
	must(t, p.c, "CREATE TABLE w (id INT PRIMARY KEY, a INT, UNIQUE (a, id))")
	must(t, p.c, "CREATE TABLE r (id INT PRIMARY KEY, a INT UNIQUE)")
	for sql, want := range map[string]string{
		"ALTER TABLE w ADD UNIQUE KEY k (a)":                                    "UNIQUE (a) of w",
		"ALTER TABLE w ADD COLUMN c INT UNIQUE":                                 "UNIQUE (c) of w",
		"CREATE UNIQUE INDEX k ON w (a)":                                        "UNIQUE (a) of w",
		"RENAME TABLE u TO w":                                                   "RENAME of the table u, which has indexes",
		"ALTER TABLE w RENAME TO u":                                             "RENAME of the table u, which has indexes",
		"ALTER TABLE u TRUNCATE PARTITION p0":                                   "drops rows with their partitions",
		"ALTER TABLE u DROP PARTITION p0":                                       "drops rows with their partitions",
		"ALTER TABLE u EXCHANGE PARTITION p0 WITH TABLE w":                      "",
		"ALTER TABLE u ADD FOREIGN KEY (n) REFERENCES r (id) ON DELETE CASCADE": "ON DELETE CASCADE in u",
		"ALTER TABLE u DROP COLUMN email":                                       "email is a column of the index email of u, which is kept in a table of its own, and cannot be changed there: KS INDEX DROP u email first",
		"ALTER TABLE u MODIFY a BIGINT":                                         "a is a column of the index b_a of u",
		"ALTER TABLE u CHANGE email mail VARCHAR(40)":                           "KS INDEX DROP u email first",
		"ALTER TABLE u MODIFY id BIGINT UNSIGNED":                               "id is the sharding key of u",
		"ALTER TABLE u MODIFY id BIGINT NOT NULL COMMENT 'x'":                   "id is a column of the index email of u",
		"ALTER TABLE u CONVERT TO CHARACTER SET utf8mb4":                        "CONVERT TO of u",
		"DROP TABLE ks_u_email":                                                 "a change of the table ks_u_email, which the proxy keeps the index email of u in",
		"TRUNCATE ks_u_email":                                                   "a change of the table ks_u_email",
		"ALTER TABLE ks_u_email ADD COLUMN x INT":                               "a change of the table ks_u_email",
		"CREATE TABLE w LIKE ks_u_a":                                            "ks_u_a",
		"INSERT INTO ks_u_email (email, id) VALUES ('x', 1)":                    "a change of the table ks_u_email",
		"REPLACE INTO ks_u_email (email, id) VALUES ('x', 1)":                   "a change of the table ks_u_email",
		"UPDATE ks_u_email SET id = 2 WHERE email = 'x'":                        "a change of the table ks_u_email",
		"DELETE FROM shop.ks_u_email WHERE email = 'x'":                         "a change of the table ks_u_email",
		"DELETE u, k FROM u JOIN ks_u_email k ON k.id = u.id":                   "ks_u_email",
		"LOCK TABLES ks_u_email WRITE":                                          "ks_u_email",
	} {
		refusedWith(t, p.c, sql, want)
	}
	must(t, p.c, "PREPARE s FROM 'DELETE FROM ks_u_email WHERE email = ?'")
	must(t, p.c, "SET @v = 'x'")
	refusedWith(t, p.c, "EXECUTE s USING @v", "a change of the table ks_u_email")
	must(t, p.c, "ALTER TABLE u ADD UNIQUE KEY again (email), MODIFY n DOUBLE")
	must(t, p.c, "CREATE UNIQUE INDEX b ON u (b, a)")
	must(t, p.nodes[0], "UPDATE ks_meta.indexes SET state = 'building' WHERE key_name = 'email'")
	refusedWith(t, p.c, "ALTER TABLE u ADD UNIQUE KEY more (email)", "which is building: KS INDEX BUILD u email first")
	must(t, p.c, "SELECT * FROM ks_u_email WHERE email = 'x'")
	must(t, p.c, "SELECT u.id FROM u JOIN ks_u_email k ON k.id = u.id WHERE k.email = 'x'")
	must(t, p.c, "ANALYZE TABLE ks_u_email")
}

// No list has the tables that keep indexes; a description of one is there for who knows its name.
func testIndexesHidden(t *testing.T, p *ddlProxy) {
	must(t, p.c, indexedTable)
	for sql, want := range map[string]string{
		"SHOW TABLES": "u", "SHOW FULL TABLES LIKE '%'": "u", "SHOW TABLE STATUS": "u",
		"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop'":                                     "u",
		"SELECT DISTINCT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop'":                           "u",
		"SELECT DISTINCT TABLE_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'shop'":                        "u",
		"SELECT DISTINCT TABLE_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = 'shop'":                 "u",
		"SELECT DISTINCT TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = 'shop'":                  "u",
		"SELECT DISTINCT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_NAME = 'u' ORDER BY INDEX_NAME LIMIT 1": "a",
	} {
		if got := column(must(t, p.c, sql)); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	must(t, p.c, "SHOW OPEN TABLES")
	if got := column(must(t, p.c, "SHOW COLUMNS FROM ks_u_email")); got != "email id" {
		t.Errorf("the columns are %s", got)
	}
}

// Administrators see how far indexes are, fill, verify and drop them.
func testIndexesAdministered(t *testing.T, p *ddlProxy) {
	root := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root"})
	must(t, p.c, indexedTable)
	must(t, p.nodes[0], "INSERT INTO u_0000 (id, a, b, email) VALUES (2, 1, 'x', 'Two'), (4, 1, 'y', NULL)")
	must(t, p.nodes[1], "INSERT INTO u_0001 (id, a, b, email) VALUES (3, 1, 'x', 'three')")
	shown := func(sql string) string { t.Helper(); return fmt.Sprint(must(t, root, sql).Rows) }
	if got := shown("SHOW KS INDEXES LIKE 'u' WHERE name = 'email'"); got != "[[shop u email email 1 ks_u_email built <nil> 0 <nil>]]" {
		t.Error(got)
	}
	const lacks = `the row with id = 2 has not its entry with email = "Two"`
	if got := shown("KS INDEX VERIFY shop.u email"); !strings.HasPrefix(got, "[[shop u email 3 0 2 0 0 ") || !strings.Contains(got, lacks) {
		t.Error(got)
	}
	mysqltest.WaitFor(t, "the faults to be shown", func() bool {
		return strings.HasSuffix(shown("SHOW KS INDEXES WHERE name = 'email'"), "built <nil> 0 2]]")
	})
	fails(t, root, "KS INDEX DROP u", 9032)
	fails(t, root, "KS INDEX DROP w nothing", 9032)
	fails(t, root, "KS INDEX BUILD u nothing", 9032)
	fails(t, root, "KS INDEX MEND u", 9031)
	fails(t, p.c, "KS INDEX BUILD u email", 9030)
	if got := shown("KS INDEX DROP u email"); got != "[[shop u email n0/shop.ks_u_email_0000, n1/shop.ks_u_email_0001]]" {
		t.Error(got)
	}
	if got := p.tables(t); strings.Contains(got, "email") {
		t.Errorf("left are %s", got)
	}
	fails(t, root, "KS INDEX VERIFY u email", 9032)
	for _, call := range []struct{ path, body, want string }{
		{"build", `{"table":"shop.u","name":"email","rate":1000000}`, `{"rows":[{"db":"shop","table":"u","name":"email","rows":3,"entries":null,"lacking":null,"stale":null,"twice":null,"examples":null}]}`},
		{"drop", `{"table":"u","name":"b_a"}`, `{"rows":[{"db":"shop","table":"u","name":"b_a",`},
		{"verify", `{"table":"u","name":"a"}`, `"rows":3,"entries":0,"lacking":3,"stale":0,"twice":0,"examples":"?"}]}`},
		{"verify", `{"table":"u","name":"a","repair":true}`, `"lacking":3,`},
		{"verify", `{"table":"u","name":"a"}`, `"entries":3,"lacking":0,`},
		{"drop", `{"table":"u","name":"email"}`, `{"rows":[{"db":"shop","table":"u","name":"email",`},
	} {
		if got := p.post(t, "/api/v2/indexes/"+call.path, call.body); !strings.Contains(got, call.want) {
			t.Errorf("%s %s: %s", call.path, call.body, got)
		}
	}
	must(t, p.c, "ALTER TABLE u MODIFY n DOUBLE")
	if got := shown("KS INDEX BUILD u email RATE 1000000"); got != "[[shop u email 3 <nil> <nil> <nil> <nil> <nil>]]" {
		t.Error(got)
	}
	if got := shown("KS INDEX VERIFY u email REPAIR"); got != "[[shop u email 3 2 0 0 0 <nil>]]" {
		t.Error(got)
	}
	r, err := root.Query("KS INDEX BUILD u b_a")
	if err != nil || r.Err == nil || r.Err.Code != 9032 || !strings.Contains(r.Err.Message, "the rows with id = 2 and with id = 3 of shop.u both have") {
		t.Errorf("%v, %+v", err, r)
	}
	if got := shown("SHOW KS INDEXES WHERE name = 'b_a'"); !strings.Contains(got, "building") {
		t.Error(got)
	}
	p.reload(t, strings.ReplaceAll(indexedConfig, ", lookup: [a]", ""))
	mysqltest.WaitFor(t, "the index to be unused", func() bool {
		return shown("SHOW KS INDEXES LIKE 'u' WHERE name = 'a'") == "[[shop u a <nil> <nil> ks_u_a unused <nil> 0 <nil>]]"
	})
	if got := shown("KS INDEX DROP u a"); got != "[[shop u a n0/shop.ks_u_a_0000, n1/shop.ks_u_a_0001]]" {
		t.Error(got)
	}
	if got := shown("SHOW KS INDEXES LIKE 'u' WHERE name = 'a'") + p.tables(t); strings.Contains(got, "ks_u_a_") || !strings.Contains(got, "ks_u_email_0000") {
		t.Errorf("left are %s", got)
	}
	fails(t, root, "KS INDEX DROP u a", 9032)
	if got := column(must(t, root, "KS CHECK TABLE shop.ks_u_email")); got != "" {
		t.Errorf("differences: %s", got)
	}
	must(t, p.nodes[1], "DROP TABLE ks_u_email_0001")
	if got := shown("KS CHECK TABLE shop.ks_u_email"); got != "[[shop ks_u_email n1 shop.ks_u_email_0001 is missing]]" {
		t.Error(got)
	}
}

// reload brings another configuration of the proxy into force.
func (p *ddlProxy) reload(t *testing.T, text string) {
	t.Helper()
	cfg, faults := config.Parse(fmt.Appendf(nil, text, p.servers[1].Addr, p.servers[2].Addr), t.TempDir(), config.Options{})
	if cfg == nil {
		t.Fatal(faults)
	}
	if err := p.srv.Reload(querylog.By{}, cfg, false); err != nil {
		t.Fatal(err)
	}
}

// post sends a request to the administration by HTTP and returns what it answers.
func (p *ddlProxy) post(t *testing.T, path, body string) string {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://"+p.srv.WebAddr().String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer operoperoperoperoper")
	r.Header.Set("Content-Type", "application/json")
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
