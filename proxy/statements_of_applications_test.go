package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Threat 34: with a rule on classes an application cannot change tables, accounts or the server, however it words or wraps the
// statement; another user can, and the application's own work goes on.
func TestStatementsOfApplications(t *testing.T) {
	server := startScript(t, "script")
	p := startProxy(t, oneNode(server.Addr, 4, `
query_rules:
  - {name: no-administration, users: [ks], classes: [ddl, truncate, account, admin, flush, doubtful, handler], block: not for applications}
`))
	app := dial(t, p.addr, mysqltest.ClientConfig{User: "ks", Password: "ks", Capabilities: mysqltest.ScriptCapabilities&^mysql.ClientConnectWithDB | mysql.ClientMultiStatements})
	reached := func(part string) bool {
		return slices.ContainsFunc(server.Queries(), func(q string) bool { return strings.Contains(q, part) })
	}
	for k, form := range []string{
		"CREATE TABLE %s (a INT)", "create temporary table %s (a INT)", "ALTER TABLE %s ADD b INT", "DROP TABLE %s", "DROP DATABASE %s", "CREATE DATABASE %s", "CREATE INDEX i ON %s (a)",
		"RENAME TABLE %s TO u", "TRUNCATE %s", "CREATE VIEW %s AS SELECT 1", "CREATE TRIGGER %s BEFORE INSERT ON u FOR EACH ROW SET @a = 1", "CREATE USER %s", "DROP USER %s",
		"GRANT ALL ON *.* TO %s", "REVOKE ALL ON *.* FROM %s", "SET PASSWORD FOR %s = 'x'", "FLUSH TABLES %s", "SHUTDOWN /* %s */", "INSTALL PLUGIN %s SONAME 'x'",
		"HANDLER %s OPEN", "CREATE PROCEDURE %s() SELECT 1", "CHANGE MASTER TO MASTER_HOST = '%s'", "PURGE BINARY LOGS TO '%s'", "RESET MASTER /* %s */",
		"/* a comment */ DROP TABLE %s", "/*!50000 DROP TABLE %s */", "/*!DROP*/ TABLE %s", "-- a comment\nDROP TABLE %s", "  \n\tdRoP\tTABLE %s", "(DROP TABLE %s)", "SELECT 1; DROP TABLE %s",
		"PREPARE st FROM 'DROP TABLE %s'", "EXECUTE IMMEDIATE 'DROP TABLE %s'", "ANALYZE TABLE u; DROP TABLE %s", "BEGIN NOT ATOMIC DROP TABLE %s; END",
	} {
		name := fmt.Sprintf("victim_%02d", k)
		text := fmt.Sprintf(form, name)
		err := statementsError(t, app, text)
		if err == nil || err.Code != 9020 && err.Code != 1064 && err.Code != 9005 || reached(name) {
			t.Errorf("%s: %v; it reached the server: %v", text, err, reached(name))
		}
		if strings.HasPrefix(form, "SELECT 1;") {
			continue // no server prepares several statements
		}
		if _, err := app.Prepare(text); err == nil {
			t.Errorf("%s can be prepared", text)
		}
	}
	for _, text := range []string{"SELECT name FROM t WHERE a = 'DROP TABLE t'", "INSERT INTO t VALUES (1)", "UPDATE t SET a = 1", "DELETE FROM t", "BEGIN", "COMMIT", "SET @a = 1"} {
		must(t, app, text)
	}
	must(t, p.client(""), "DROP TABLE of_root")
	if !reached("of_root") {
		t.Error("root is meant, too")
	}
}

// statementsError gives the first error among the answers to a text.
func statementsError(t *testing.T, c *mysqltest.RawClient, text string) *mysql.SQLError {
	t.Helper()
	r, err := c.Query(text)
	for ; err == nil && r != nil; r = r.Next {
		if r.Err != nil {
			return r.Err
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return nil
}
