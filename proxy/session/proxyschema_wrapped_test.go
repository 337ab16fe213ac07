package session_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/txn/decisions"
)

// onProxySchema are statements that would reach what is in the proxies' own schema, as one of those that others can contain. %s is the schema's name.
var onProxySchema = []string{
	"CALL %s.ks_decide('g', '', '', '2100-01-01', 'm')", "CALL %s . ks_branch('g', 'm')", "CALL %s./**/`ks_branch`('g', 'm')",
	"SELECT * FROM %s.dtx", "SELECT (SELECT MAX(state) FROM %s.dtx)", "SELECT 1 FROM (SELECT * FROM %s.secret) AS t", "SELECT 1 UNION SELECT state FROM %s.dtx", "SELECT * FROM plain, %s.dtx",
	"SELECT * FROM plain LEFT JOIN %s.dtx ON state = id", "SELECT * FROM users WHERE EXISTS (SELECT 1 FROM %s.dtx)", "SELECT secret FROM %s.secret INTO @x", "SELECT state FROM %s.dtx FOR UPDATE",
	"WITH c AS (SELECT * FROM %s.dtx) SELECT * FROM c", "INSERT INTO %s.dtx (gtrid, state, parts, conns, mac) VALUES ('g', 'C', '', '', '')", "INSERT INTO plain SELECT 1 FROM %s.dtx",
	"INSERT INTO plain VALUES ((SELECT COUNT(*) FROM %s.dtx))", "REPLACE INTO %s.dtx SET gtrid = 'g', state = 'C', parts = '', conns = '', mac = ''", "UPDATE %s.dtx SET state = 'C'", "UPDATE plain, %s.dtx SET state = 'A'",
	"UPDATE plain SET id = (SELECT COUNT(*) FROM %s.dtx)", "DELETE FROM %s.dtx", "DELETE d FROM %s.dtx AS d", "DELETE FROM plain WHERE id IN (SELECT state FROM %s.dtx)",
	"DO (SELECT MAX(state) FROM %s.dtx)", "SET @x = (SELECT MAX(HEX(secret)) FROM %s.secret)", "SET @x = 1, @y = (SELECT 1 FROM %s.dtx LIMIT 1)",
}

// alsoOnProxySchema are such as stand alone.
var alsoOnProxySchema = []string{
	"TRUNCATE TABLE %s.dtx", "DROP TABLE %s.dtx", "DROP TABLE IF EXISTS plain2, %s.dtx", "ALTER TABLE %s.dtx ADD a INT", "RENAME TABLE %s.dtx TO stolen", "RENAME TABLE plain TO %s.plain",
	"ALTER TABLE %s.dtx RENAME TO shop.stolen", "ALTER TABLE plain RENAME TO %s.plain", "CREATE TABLE stolen LIKE %s.secret", "CREATE TABLE stolen AS SELECT * FROM %s.secret", "CREATE TABLE stolen (a INT) SELECT * FROM %s.secret",
	"CREATE TEMPORARY TABLE stolen AS SELECT * FROM %s.secret", "CREATE TABLE %s.t (a INT)", "CREATE OR REPLACE VIEW stolen AS SELECT * FROM %s.secret", "ALTER VIEW stolen AS SELECT * FROM %s.secret",
	"CREATE VIEW %s.v AS SELECT 1", "CREATE TRIGGER tr AFTER INSERT ON %s.dtx FOR EACH ROW SET @x = 1", "CREATE TRIGGER %s.tr AFTER INSERT ON plain FOR EACH ROW SET @x = 1",
	"CREATE PROCEDURE %s.p() SELECT 1", "CREATE FUNCTION %s.f() RETURNS INT RETURN 1", "CREATE EVENT %s.e ON SCHEDULE EVERY 1 DAY DO SELECT 1", "DROP PROCEDURE %s.ks_decide", "DROP PROCEDURE IF EXISTS %s.ks_branch",
	"ALTER PROCEDURE %s.ks_decide SQL SECURITY INVOKER", "SHOW CREATE PROCEDURE %s.ks_decide", "SHOW CREATE TABLE %s.secret", "SHOW FULL COLUMNS FROM %s.secret", "SHOW TABLES IN %s", "SHOW OPEN TABLES FROM %s",
	"SHOW TRIGGERS FROM %s", "SHOW EVENTS FROM %s", "SHOW CREATE DATABASE %s", "SHOW CREATE SCHEMA IF NOT EXISTS %s", "DESCRIBE %s.secret", "DESC %s.dtx state", "EXPLAIN %s.dtx", "HANDLER %s.dtx OPEN", "HANDLER %s.dtx READ FIRST",
	"LOAD DATA INFILE '/tmp/x' INTO TABLE %s.dtx", "LOAD DATA LOCAL INFILE 'x' INTO TABLE %s.dtx", "LOAD XML LOCAL INFILE 'x' INTO TABLE %s.dtx", "LOAD DATA LOCAL INFILE 'x' INTO TABLE plain (@a) SET id = (SELECT COUNT(*) FROM %s.dtx)",
	"LOCK TABLES plain READ, %s.dtx WRITE", "FLUSH TABLES %s.dtx FOR EXPORT", "FLUSH TABLES %s.dtx WITH READ LOCK", "CHECKSUM TABLE %s.dtx", "REPAIR TABLE %s.dtx", "ANALYZE TABLE plain, %s.dtx", "CACHE INDEX %s.dtx IN hot",
	"LOAD INDEX INTO CACHE %s.dtx", "USE %s", "CREATE DATABASE %s", "CREATE OR REPLACE DATABASE %s", "DROP SCHEMA %s", "ALTER SCHEMA %s CHARACTER SET latin1", "GRANT ALL ON %s.* TO CURRENT_USER", "GRANT EXECUTE ON PROCEDURE %s.ks_decide TO x",
	"REVOKE ALL ON %s.* FROM x", "TABLE %s.secret", "VALUES ROW((SELECT HEX(secret) FROM %s.secret))", "SELECT %s.f()", "SELECT NEXTVAL(%s.s)", "SELECT * FROM plain PROCEDURE ANALYSE(), %s.dtx",
	"CREATE TABLE other (a INT, FOREIGN KEY (a) REFERENCES %s.dtx (state))", "CREATE TABLE merged (a INT) ENGINE=MERGE UNION=(%s.dtx)", "ALTER TABLE plain EXCHANGE PARTITION p WITH TABLE %s.dtx", "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = (SELECT 1 FROM %s.dtx)",
	"KILL (SELECT 1 FROM %s.dtx)", "SET GLOBAL max_connections = (SELECT COUNT(*) FROM %s.dtx)", "SHOW STATUS WHERE Variable_name IN (SELECT state FROM %s.dtx)", "BACKUP LOCK %s.dtx",
	"CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (DATABASE '%s')", "EXPLAIN FOR SCHEMA %s SELECT * FROM dtx", "EXPLAIN FOR DATABASE %s DELETE FROM dtx",
}

// covering puts a statement into another; only is the kind of server that takes it for one, "" for both. A literal is one in quotes, whose quotes are doubled.
type covering struct {
	before, after string
	literal       bool
	only          mysqltest.Kind
}

var coverings = []covering{
	{}, {before: "/*!", after: "*/"}, {before: "/*!50000 ", after: " */"}, {before: "/*!99999 1*/ ", after: ""}, {before: "/*M! ", after: "*/", only: mysqltest.MariaDB}, {before: "/*M!100000 ", after: "*/", only: mysqltest.MariaDB},
	{before: "/* a */ -- b\n # c\n "}, {after: " -- c"}, {after: ";"}, {before: "(", after: ")"},
	{before: "SELECT 1; "}, {before: "SELECT 1; /*!", after: "*/; SELECT 2"}, {after: "; SELECT 1"}, {before: "BEGIN; ", after: "; COMMIT"},
	{before: "PREPARE s FROM '", after: "'", literal: true}, {before: "PREPARE s FROM '/*!", after: "*/'", literal: true}, {before: "SELECT 1; PREPARE s FROM '", after: "'; EXECUTE s", literal: true},
	{before: "EXECUTE IMMEDIATE '", after: "'", literal: true, only: mysqltest.MariaDB}, {before: "PREPARE s FROM CONCAT('", after: "', '')", literal: true, only: mysqltest.MariaDB},
	{before: "EXPLAIN "}, {before: "EXPLAIN FORMAT=JSON "}, {before: "EXPLAIN EXTENDED "}, {before: "DESCRIBE "}, {before: "ANALYZE ", only: mysqltest.MariaDB}, {before: "EXPLAIN ANALYZE "}, {before: "EXPLAIN FORMAT=TREE INTO @x "},
	{before: "SET STATEMENT max_statement_time = 1 FOR ", only: mysqltest.MariaDB}, {before: "BEGIN NOT ATOMIC ", after: "; END", only: mysqltest.MariaDB}, {before: "IF 1 THEN ", after: "; END IF", only: mysqltest.MariaDB},
	{before: "CREATE PROCEDURE p() "}, {before: "CREATE PROCEDURE p() BEGIN DECLARE a INT; IF a THEN SELECT 1; ELSE ", after: "; END IF; END"},
	{before: "CREATE PROCEDURE p() l: LOOP ", after: "; END LOOP l"}, {before: "CREATE PROCEDURE p() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION ", after: "; SELECT 1; END"},
	{before: "CREATE DEFINER = x@y PROCEDURE p() SQL SECURITY INVOKER CASE 1 WHEN 1 THEN ", after: "; END CASE"}, {before: "/*!CREATE*/ PROCEDURE p() "},
	{before: "CREATE PROCEDURE p() BEGIN PREPARE s FROM '", after: "'; EXECUTE s; END", literal: true}, {before: "CREATE OR REPLACE PROCEDURE p() BEGIN EXECUTE IMMEDIATE '", after: "'; END", literal: true, only: mysqltest.MariaDB},
	{before: "CREATE FUNCTION f() RETURNS INT BEGIN ", after: "; RETURN 1; END"}, {before: "CREATE TRIGGER tr AFTER INSERT ON plain FOR EACH ROW "}, {before: "CREATE TRIGGER tr AFTER INSERT ON plain FOR EACH ROW BEGIN ", after: "; END"},
	{before: "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO "}, {before: "ALTER EVENT e DO BEGIN ", after: "; END"}, {before: "CREATE VIEW v AS "}, {before: "CREATE TABLE t2 AS "}, {before: "INSERT INTO plain "},
	{before: "SELECT * FROM plain WHERE id IN (", after: ")"}, {before: "SET @x = (", after: ")"}, {before: "DO (", after: ")"}, {before: "DECLARE c CURSOR FOR "}, {before: "CREATE PROCEDURE p() BEGIN DECLARE c CURSOR FOR ", after: "; OPEN c; END"},
	{before: "CREATE PROCEDURE p() FOR r IN (", after: ") DO SELECT 1; END FOR", only: mysqltest.MariaDB},
}

// spellings are names of the schema, and what has a server read them so.
var spellings = []struct{ name, set string }{
	{"ks_meta", ""}, {"`ks_meta`", ""}, {"KS_Meta", ""}, {"`Ks_METa`", ""}, {"/*!ks_meta*/", ""}, {"/*!50000`ks_meta`*/", ""}, {"ks_meta/* . */", ""}, {"ks_meta -- .\n", ""}, {`"ks_meta"`, "SET sql_mode = 'ANSI_QUOTES'"},
	{`"KS_meta"`, "SET sql_mode = 'ANSI'"}, {"\u212As_meta", ""}, {"`\u212AS_META`", ""}, {"\x816\xbf2s_meta", "SET NAMES gb18030"}, {"`\x816\xbf2s_meta`", "SET NAMES gb18030"}, {"ks_meta", "SET NAMES gbk"}, {"ks_meta", "SET NAMES latin1, sql_mode = 'NO_BACKSLASH_ESCAPES'"},
}

// No statement that names the proxies' own schema reaches a server, whatever covers it and however the name is written; in a text, prepared, or as the text
// that another one prepares.
func TestProxySchemaIsRefusedWrapped(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		kind := mysqltest.MySQL9
		if strings.Contains(t.Name(), string(mysqltest.MariaDB)) {
			kind = mysqltest.MariaDB
		}
		for _, node := range s.nodes {
			must(t, node, "DROP DATABASE IF EXISTS ks_meta")
			for _, one := range decisions.Statements(decisions.Accounts{User: "root"}) {
				must(t, node, one.SQL)
			}
			must(t, node, "SET NAMES utf8mb4")
			must(t, node, "SET sql_mode = DEFAULT")
			must(t, node, "SET GLOBAL log_output = 'TABLE'")
			must(t, node, "TRUNCATE mysql.general_log")
			must(t, node, "SET GLOBAL general_log = 1")
		}
		defer func() {
			for _, node := range s.nodes {
				must(t, node, "SET GLOBAL general_log = 0")
				must(t, node, "DROP DATABASE ks_meta")
			}
		}()
		checked, failures := 0, 0
		refused := func(what, sql string, err *mysql.SQLError) {
			t.Helper()
			checked++
			if err == nil || err.Code < 9000 && err.Code != mysql.ERSpecificAccessDenied && err.Code != mysql.ERUnsupportedPS {
				if failures++; failures < 100 {
					t.Errorf("%s %q: %v", what, sql, err)
				}
			}
		}
		for n, spelling := range spellings {
			c := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop", Capabilities: mysqltest.ScriptCapabilities | mysql.ClientMultiStatements | mysql.ClientLocalFiles})
			if spelling.set != "" {
				if r, err := c.Query(spelling.set); err != nil || r.Err != nil { // gb18030 is MySQL's
					continue
				}
			}
			for k, form := range append(append([]string{}, onProxySchema...), alsoOnProxySchema...) {
				plain := strings.ReplaceAll(form, "%s", spelling.name)
				list := coverings
				switch {
				case k >= len(onProxySchema):
					list = coverings[:1]
				case n > 0 && (testing.Short() || strings.HasSuffix(t.Name(), "[2_2]")): // how many sub-tables a node has says nothing of what names the schema
					list = coverings[n%len(coverings):][:1]
				}
				for _, w := range list {
					if w.only != "" && w.only != kind {
						continue
					}
					inner := plain
					if w.literal {
						inner = strings.ReplaceAll(strings.ReplaceAll(inner, "'", "''"), "\\", "\\\\")
					}
					sql := w.before + inner + w.after
					r, err := c.Query(sql)
					if err != nil {
						t.Fatal(sql, err)
					}
					for r.Next != nil {
						r = r.Next
					}
					if r.LocalInfile != "" {
						t.Fatalf("%q asks for a file", sql)
					}
					if strings.HasPrefix(w.before, "SELECT 1; ") || strings.HasPrefix(w.before, "BEGIN; ") || w.after != "; SELECT 1" || r.Err != nil {
						refused("text", sql, r.Err)
					}
					if r, err := c.Query("ROLLBACK"); err != nil || r.Err != nil {
						t.Fatal(r, err)
					}
				}
				_, err := c.Prepare(plain)
				own, _ := err.(*mysql.SQLError)
				refused("prepared", plain, own)
				if spelling.set == "" {
					must(t, c, "SET @text = X'"+hex.EncodeToString([]byte(plain))+"'")
					refused("from a variable", plain, must1(t, c, "PREPARE s FROM @text"))
					if kind == mysqltest.MariaDB {
						refused("from an expression", plain, must1(t, c, fmt.Sprintf("EXECUTE IMMEDIATE UNHEX('%x')", plain)))
					}
				}
			}
			if name := strings.Trim(spelling.name, "`"); !strings.ContainsAny(name, " /*\"") {
				if p, err := c.Command(mysql.ComInitDB, name); err != nil || p[0][0] != mysql.ErrHeader {
					t.Errorf("COM_INIT_DB of %q: %q, %v", name, p, err)
				}
				var told *mysql.SQLError
				if err := c.ChangeUser("root", "root", name); !errors.As(err, &told) {
					t.Errorf("COM_CHANGE_USER to %q: %v", name, err)
				}
			}
		}
		t.Logf("%d statements, %d not refused", checked, failures)
		for k, node := range s.nodes {
			r := must(t, node, "SELECT DISTINCT command_type, CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE command_type <> 'Connect' AND argument NOT LIKE '%general_log%' AND argument NOT LIKE 'SELECT HEX(CONVERT(%' AND argument NOT LIKE 'SELECT 1 FROM information\\_schema.TABLES WHERE %' AND argument NOT LIKE 'SELECT db, name, key_name, % FROM ks\\_meta.indexes' AND "+ // which ask for a text to be prepared, whether the table is there, and for the keys over shards
				"(argument LIKE '%dtx%' OR argument LIKE '%ks_decide%' OR argument LIKE '%ks_branch%' OR argument LIKE '%secret%' OR argument LIKE '%s\\_meta.%') LIMIT 20")
			for _, row := range r.Rows {
				t.Errorf("node %d was sent %q", k, row)
			}
		}
	})
}
