package session_test

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// metadataConfig has tables of every kind of place: u and f on both nodes, v and s on the one that is not the default, r copied, and
// others without a rule.
const metadataConfig = `
addr: 127.0.0.1:0
user_list: [{user: app, password: app, rights: read}]
nodes:
  - {name: n0, max_conns_limit: 8, user: root, password: root, master: "%[1]s"}
  - {name: n1, max_conns_limit: 8, user: root, password: root, master: "%[2]s"}
schema_list:
  - user: app
    nodes: [n0, n1]
    default: n0
    shard:
      - {db: shop, table: u, key: id, type: hash, nodes: [n0, n1], locations: [2, 2]}
      - {db: shop, table: f, key: u_id, colocate_with: u}
      - {db: shop, table: v, key: id, type: hash, nodes: [n1], locations: [3]}
      - {db: shop, table: s, type: single, nodes: [n1]}
      - {db: shop, table: r, type: reference}
`

// metadataTables are made through the proxy, and on one server.
var metadataTables = []string{
	"CREATE TABLE u (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40) NOT NULL DEFAULT 'x' COMMENT 'what u_0000 is called', price DECIMAL(10,2) UNSIGNED, at TIMESTAMP NULL, " +
		"kind ENUM('a','b'), body TEXT, raw VARBINARY(9), b BIT(3), UNIQUE KEY name_id (name, id), KEY price (price)) COMMENT='the users'",
	"CREATE TABLE f (id INT, u_id INT NOT NULL, PRIMARY KEY (u_id, id), CONSTRAINT FOREIGN KEY (u_id) REFERENCES u (id))",
	"CREATE TABLE v (id BIGINT UNSIGNED NOT NULL, d DATE, j DOUBLE, PRIMARY KEY (id)) DEFAULT CHARSET=latin1",
	"CREATE TABLE s (id INT PRIMARY KEY, t VARCHAR(5) CHARACTER SET ascii, KEY t (t))",
	"CREATE TABLE r (id INT PRIMARY KEY, c CHAR(2))",
	"CREATE TABLE p (id INT PRIMARY KEY, u VARCHAR(9))",
	"CREATE TABLE `p q` (id INT)",
	"CREATE VIEW w AS SELECT id FROM p",
	"INSERT INTO u (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e')",
	"INSERT INTO v VALUES (1, '2020-01-01', 1.5), (2, NULL, 2), (4, NULL, 3)",
	"INSERT INTO s VALUES (1, 'x')",
	"INSERT INTO r VALUES (1, 'x'), (2, NULL)",
	"INSERT INTO p VALUES (1, 'x')",
}

// metadataStatements are the forms of SHOW and DESCRIBE of both servers' manuals for every table, and what else shows tables.
func metadataStatements(maria bool) (list []string) {
	tables := []string{"u", "f", "v", "s", "r", "p", "w", "`p q`", "nothing", "shop.u", "`shop`.`s`", "nowhere.u"}
	for _, t := range tables {
		for _, sql := range []string{
			"SHOW COLUMNS FROM %s", "SHOW FULL COLUMNS FROM %s", "SHOW FIELDS IN %s", "SHOW FULL FIELDS FROM %s", "SHOW EXTENDED COLUMNS FROM %s",
			"SHOW COLUMNS FROM %s LIKE 'i%%'", "SHOW FULL COLUMNS FROM %s WHERE Field <> 'id'", "SHOW COLUMNS FROM %s WHERE `Key` = 'PRI'",
			"DESCRIBE %s", "DESC %s", "EXPLAIN %s", "DESC %s id", "DESCRIBE %s 'i%%'",
			"SHOW INDEX FROM %s", "SHOW INDEXES IN %s", "SHOW KEYS FROM %s", "SHOW EXTENDED INDEX FROM %s", "SHOW INDEX FROM %s WHERE Key_name = 'PRIMARY'",
			"SHOW INDEX FROM %s WHERE `Table` IN ('u', 'v', 's') AND Seq_in_index = 1", "SHOW CREATE TABLE %s", "SHOW CREATE VIEW %s",
			"ANALYZE TABLE %s", "CHECK TABLE %s", "OPTIMIZE TABLE %s", "REPAIR TABLE %s", "CHECKSUM TABLE %s", "CHECKSUM TABLE %s EXTENDED",
		} {
			list = append(list, fmt.Sprintf(sql, t))
		}
		if !strings.Contains(t, ".") {
			for _, sql := range []string{
				"SHOW COLUMNS FROM %s FROM shop", "SHOW FULL COLUMNS IN %s IN shop LIKE '%%'", "SHOW INDEX FROM %s FROM shop", "SHOW KEYS IN %s IN `shop` WHERE Non_unique = 0",
				"SHOW COLUMNS FROM %s FROM nowhere",
			} {
				list = append(list, fmt.Sprintf(sql, t))
			}
		}
	}
	for _, what := range []string{"TABLES", "FULL TABLES", "TABLE STATUS", "TRIGGERS", "FULL TRIGGERS", "EXTENDED TABLES"} {
		name := "Tables_in_shop"
		if strings.Contains(what, "STATUS") {
			name = "Name"
		} else if strings.Contains(what, "TRIGGERS") {
			name = "`Trigger`"
		}
		for _, rest := range []string{
			"", " FROM shop", " IN shop", " FROM `shop`", " LIKE 'u'", " LIKE 'U%'", " LIKE '%\\_%'", " LIKE 'no'", " FROM shop LIKE 'p%'", " WHERE " + name + " = 'u'",
			" WHERE " + name + " IN ('v', 's', 'p q', 'p_ins') OR 1 = 0", " FROM nowhere", " FROM information_schema LIKE 'ENGINES'", ";",
		} {
			list = append(list, "SHOW "+what+rest)
		}
	}
	list = append(list, "SHOW FULL TABLES WHERE Table_type = 'VIEW'", "SHOW FULL TABLES FROM shop WHERE Table_type <> 'VIEW'", "SHOW TABLE STATUS WHERE Engine = 'InnoDB'",
		"SHOW OPEN TABLES FROM shop LIKE 'no%'", "SHOW OPEN TABLES WHERE `Table` = 'no'",
		"SHOW TABLES LIKE 'u' AND 1", "SHOW COLUMNS", "SHOW TABLES FROM", "DESCRIBE u id name")
	information := []string{
		"SELECT TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_COLLATION, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' ORDER BY TABLE_NAME",
		"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME",
		"SELECT TABLES.TABLE_NAME FROM information_schema.TABLES WHERE TABLES.TABLE_SCHEMA = 'shop' ORDER BY 1",
		"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'shop' AND table_name = 's'",
		"SELECT COUNT(*) AS `exists` FROM information_schema.tables t WHERE t.table_schema = 'shop' AND t.table_name IN ('v', 'u_0000', 'v_0001')",
		"SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' ORDER BY TABLE_NAME, ORDINAL_POSITION",
		"SELECT COLUMN_NAME, DATA_TYPE, COLUMN_KEY, COLUMN_DEFAULT, EXTRA FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'u' ORDER BY ordinal_position",
		"SELECT TABLE_NAME, NON_UNIQUE, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, COLLATION, SUB_PART, NULLABLE, INDEX_TYPE FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'shop' " +
			"ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX",
		"SELECT TABLE_NAME, COLUMN_NAME, CONSTRAINT_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE " +
			"WHERE TABLE_SCHEMA = 'shop' AND REFERENCED_TABLE_NAME IS NULL ORDER BY 1, 2, 3",
		"SELECT TABLE_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_SCHEMA = 'shop'",
		"SELECT TABLE_NAME, REFERENCED_TABLE_NAME, DELETE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'shop'",
		"SELECT TABLE_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = 'shop' ORDER BY 1, 2",
		"SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'shop'",
		"SELECT TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'shop'",
		"SELECT t.TABLE_NAME, c.COLUMN_NAME FROM information_schema.TABLES t JOIN information_schema.COLUMNS c USING (TABLE_SCHEMA, TABLE_NAME) WHERE TABLE_SCHEMA = 'shop' ORDER BY 1, 2",
		"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' UNION SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' ORDER BY 1",
		"WITH x AS (SELECT TABLE_NAME n FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop') SELECT n FROM x ORDER BY n",
		"SELECT id, (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop') AS n FROM p",
		"SELECT nothing FROM information_schema.TABLES",
		"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND",
		"SELECT 'information_schema.TABLES' AS x FROM u WHERE id = 1",
		"SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'shop'",
	}
	return append(list, information...)
}

// volatile are the columns whose values differ from server to server.
var volatile = []string{"Create_time", "Update_time", "Check_time", "Created", "Cardinality", "Avg_row_length", "Data_length", "Index_length", "Data_free", "Auto_increment",
	"Rows", "CREATED", "PRIVILEGES"}

var counter = regexp.MustCompile(`AUTO_INCREMENT=\d+`)

// metadataShown shows an answer with everything of its definitions.
func metadataShown(r *mysqltest.RawResult) string {
	if r.Err != nil {
		return fmt.Sprintf("error %d %s %s", r.Err.Code, r.Err.State, r.Err.Message)
	}
	if r.OK != nil {
		return fmt.Sprintf("ok %d", r.OK.AffectedRows)
	}
	return definitionsShown(r.Columns) + rowsShown(r)
}

func rowsShown(r *mysqltest.RawResult) string {
	var b strings.Builder
	for _, row := range r.Rows {
		for k, v := range row {
			if slices.Contains(volatile, r.Columns[k].Name) {
				continue
			}
			if v == nil {
				b.WriteString("NULL ")
			} else {
				fmt.Fprintf(&b, "%q ", counter.ReplaceAllString(v.(string), "AUTO_INCREMENT=N")) // a sub-table's own is its rows'
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func definitionsShown(columns []mysql.ColumnDefinition41) string {
	var b strings.Builder
	for _, d := range columns {
		fmt.Fprintf(&b, "%s.%s/%s.%s/%s type %d charset %d length %d decimals %d flags %x\n", d.Schema, d.Table, d.OrgTable, d.Name, d.OrgName, d.Type, d.Charset, d.Length, d.Decimals, d.Flags)
	}
	return b.String()
}

// metadataRig gives clients of one server, of a proxy, and of the servers behind it, with the tables; log may be nil.
func metadataRig(t *testing.T, kind mysqltest.Kind, log io.Writer) (one, c *mysqltest.RawClient, nodes []*mysqltest.RawClient) {
	t.Helper()
	if log == nil {
		log = io.Discard
	}
	servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
	var direct []*mysqltest.RawClient
	for _, server := range servers {
		d := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
		must(t, d, "DROP DATABASE IF EXISTS shop")
		must(t, d, "CREATE DATABASE shop CHARACTER SET utf8mb4")
		must(t, d, "USE shop")
		direct = append(direct, d)
	}
	c = dial(t, startProxyLog(t, fmt.Sprintf(metadataConfig, servers[1].Addr, servers[2].Addr), log), mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
	for _, sql := range metadataTables {
		must(t, direct[0], sql)
		must(t, c, sql)
	}
	return direct[0], c, direct[1:]
}

// TestMetadata asks a proxy and one server for everything that drivers ask about tables, as text and prepared.
func TestMetadata(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			one, c, nodes := metadataRig(t, kind, nil)
			const trigger = "CREATE TRIGGER p_ins BEFORE INSERT ON p FOR EACH ROW SET NEW.u = 'u'"
			must(t, one, trigger)
			must(t, nodes[0], trigger)                              // behind the proxy's back: the name of its column is that of a table with a rule
			must(t, nodes[0], "CREATE TABLE s (id INT, stale INT)") // not the one that the rule means
			statements := metadataStatements(kind == mysqltest.MariaDB)
			for _, where := range []string{"", "BEGIN"} {
				if where != "" {
					must(t, one, where)
					must(t, c, where)
					statements = slices.DeleteFunc(slices.Clone(statements), func(sql string) bool { return !strings.HasPrefix(sql, "SHOW") && !strings.HasPrefix(sql, "SELECT") })
				}
				for _, sql := range statements {
					compareMetadata(t, one, c, where, sql)
				}
			}
			must(t, one, "ROLLBACK")
			must(t, c, "ROLLBACK")
		})
	}
}

func compareMetadata(t *testing.T, one, c *mysqltest.RawClient, where, sql string) {
	t.Helper()
	compareShown(t, one, c, where, sql, func(*mysql.ColumnDefinition41) {})
}

// compareShown compares an answer as a text, of PREPARE and of two executions, without what leaveOut takes from the definitions.
func compareShown(t *testing.T, one, c *mysqltest.RawClient, where, sql string, leaveOut func(*mysql.ColumnDefinition41)) {
	t.Helper()
	shown := func(r *mysqltest.RawResult) string {
		for k := range r.Columns {
			leaveOut(&r.Columns[k])
		}
		return metadataShown(r)
	}
	want, err := one.Query(sql)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Query(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	if w, g := shown(want), shown(got); w != g {
		t.Errorf("%s %s\none server\n%s\nproxy\n%s", where, sql, w, g)
	}
	ws, werr := one.Prepare(sql)
	gs, gerr := c.Prepare(sql)
	if fmt.Sprint(werr) != fmt.Sprint(gerr) {
		t.Errorf("%s prepare %s: %v instead of %v", where, sql, gerr, werr)
	}
	if werr != nil || gerr != nil {
		return
	}
	if w, g := definitionsShown(ws.Columns), definitionsShown(gs.Columns); w != g || ws.StmtPrepareOK.Params != gs.StmtPrepareOK.Params {
		t.Errorf("%s prepare %s\none server\n%s\nproxy\n%s", where, sql, w, g)
	}
	for range 2 {
		if want, err = ws.Execute(); err != nil {
			t.Fatal(err)
		}
		if got, err = gs.Execute(); err != nil {
			t.Fatal(sql, err)
		}
		if w, g := shown(want), shown(got); w != g {
			t.Errorf("%s execute %s\none server\n%s\nproxy\n%s", where, sql, w, g)
		}
	}
	if err := ws.Close(); err != nil {
		t.Fatal(err)
	}
	if err := gs.Close(); err != nil {
		t.Fatal(err)
	}
}
