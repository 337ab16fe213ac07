package session_test

import (
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// aboutProxySchema are statements about the proxies' own tables. %s is a way to write the schema's name.
var aboutProxySchema = []string{
	"SELECT * FROM %s.sequence", "SELECT * FROM %s . sequence", "SELECT * FROM %s/**/.`sequence`", "(SELECT 1) UNION SELECT next FROM %s.sequence",
	"SELECT (SELECT MAX(next) FROM %s.sequence)", "WITH c AS (SELECT * FROM %s.sequence) SELECT * FROM c", "SELECT * FROM users WHERE id IN (SELECT next FROM %s.sequence)",
	"SELECT %s.sequence.next FROM %s.sequence", "SELECT * FROM users, %s.sequence", "SELECT next FROM %s.sequence INTO @x", "SELECT 1 /*!50000 FROM %s.sequence */",
	"DO (SELECT next FROM %s.sequence)", "SET @x = (SELECT next FROM %s.sequence)", "UPDATE %s.sequence SET next = 1", "UPDATE order_items, %s.sequence SET next = 1",
	"DELETE FROM %s.sequence", "DELETE %s.sequence FROM %s.sequence", "INSERT INTO %s.sequence VALUES ('a', 'b', 1)", "INSERT INTO %s.sequence SET next = 1",
	"REPLACE INTO %s.sequence VALUES ('a', 'b', 1)", "INSERT INTO order_items SELECT next, name FROM %s.sequence", "TRUNCATE TABLE %s.sequence", "TRUNCATE %s.sequence",
	"DROP TABLE %s.sequence", "DROP DATABASE %s", "DROP SCHEMA IF EXISTS %s", "CREATE DATABASE %s", "CREATE DATABASE IF NOT EXISTS %s", "ALTER DATABASE %s CHARACTER SET latin1",
	"CREATE TABLE %s.other (a INT)", "CREATE TABLE other LIKE %s.sequence", "CREATE TABLE other AS SELECT * FROM %s.sequence", "ALTER TABLE %s.sequence ADD a INT",
	"RENAME TABLE %s.sequence TO other", "RENAME TABLE order_items TO %s.other", "CREATE INDEX i ON %s.sequence (next)", "DROP INDEX i ON %s.sequence",
	"CREATE VIEW w AS SELECT * FROM %s.sequence", "CREATE VIEW %s.w AS SELECT 1", "CREATE PROCEDURE p() UPDATE %s.sequence SET next = 1",
	"CREATE PROCEDURE p() BEGIN DELETE FROM %s.sequence; END", "CREATE FUNCTION f() RETURNS INT RETURN (SELECT MAX(next) FROM %s.sequence)",
	"CREATE TRIGGER t BEFORE INSERT ON plain FOR EACH ROW UPDATE %s.sequence SET next = 1", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM %s.sequence",
	"LOCK TABLES %s.sequence WRITE", "HANDLER %s.sequence OPEN", "LOAD DATA LOCAL INFILE 'x' INTO TABLE %s.sequence", "SHOW TABLES FROM %s", "SHOW TABLE STATUS IN %s",
	"SHOW CREATE TABLE %s.sequence", "SHOW COLUMNS FROM sequence FROM %s", "SHOW INDEX FROM %s.sequence", "DESCRIBE %s.sequence", "EXPLAIN SELECT * FROM %s.sequence",
	"EXPLAIN %s.sequence", "ANALYZE TABLE %s.sequence", "CHECK TABLE %s.sequence", "OPTIMIZE TABLE %s.sequence", "CHECKSUM TABLE %s.sequence", "FLUSH TABLES %s.sequence",
	"PREPARE s FROM 'SELECT * FROM %s.sequence'", "PREPARE s FROM 'USE %s'", "CALL %s.p()", "USE %s", "GRANT SELECT ON %s.* TO root", "REVOKE SELECT ON %s.sequence FROM root",
}

// The proxies' own tables are for no statement of a client.
func TestProxySchemaIsRefused(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		must(t, s.subject, "INSERT INTO users (name) VALUES ('a')") // which makes it
		for _, node := range s.nodes[:1] {
			if r := must(t, node, "SELECT `next` FROM ks_meta.sequence WHERE name = 'users'"); len(r.Rows) != 1 {
				t.Fatalf("the row of the sequence: %v", r.Rows)
			}
		}
		refused := func(sql string, err *mysql.SQLError) {
			t.Helper()
			if err == nil || err.Code < 9000 && err.Code != 1227 && err.Code != mysql.ERUnsupportedPS {
				t.Errorf("%s: %v", sql, err)
			}
		}
		for _, form := range aboutProxySchema {
			for _, name := range []string{"ks_meta", "`ks_meta`", "KS_Meta"} {
				sql := strings.ReplaceAll(form, "%s", name)
				r, err := s.subject.Query(sql)
				if err != nil {
					t.Fatal(sql, err)
				}
				refused(sql, r.Err)
				_, err = s.subject.Prepare(sql)
				own, _ := err.(*mysql.SQLError)
				refused("prepared "+sql, own)
			}
		}
		must(t, s.subject, "SET sql_mode = 'ANSI_QUOTES', @text = 'DELETE FROM ks_meta.sequence'")
		for _, sql := range []string{`SELECT * FROM "ks_meta"."sequence"`, "PREPARE s FROM @text"} {
			refused(sql, must1(t, s.subject, sql))
		}
		if p, err := s.subject.Command(mysql.ComInitDB, "ks_meta"); err != nil || p[0][0] != mysql.ErrHeader {
			t.Errorf("COM_INIT_DB: %v, %v", p, err)
		}
		if c, err := mysqltest.DialRaw(s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "ks_meta", Capabilities: mysqltest.ScriptCapabilities}); err == nil {
			c.Close()
			t.Error("a login in it")
		}
		for _, node := range s.nodes[:1] {
			if r := must(t, node, "SELECT `next` FROM ks_meta.sequence WHERE name = 'users'"); len(r.Rows) != 1 {
				t.Errorf("the row of the sequence: %v", r.Rows)
			}
		}
	})
}

// must1 runs a statement that may fail, and returns the error.
func must1(t *testing.T, c *mysqltest.RawClient, sql string) *mysql.SQLError {
	t.Helper()
	r, err := c.Query(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	return r.Err
}
