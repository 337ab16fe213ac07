package proxy_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// survivor is something of a session, and how to see it.
type survivor struct {
	name string
	do   []string
	sees string
	only mysqltest.Kind
}

var survivors = []survivor{
	{name: "user variable", do: []string{"SET @a = 1"}, sees: "SELECT @a"},
	{name: "session variable", do: []string{"SET group_concat_max_len = 77"}, sees: "SELECT @@group_concat_max_len"},
	{name: "sql_mode", do: []string{"SET sql_mode = ''"}, sees: "SELECT @@sql_mode"},
	{name: "foreign_key_checks", do: []string{"SET foreign_key_checks = 0"}, sees: "SELECT @@foreign_key_checks"},
	{name: "unique_checks", do: []string{"SET unique_checks = 0"}, sees: "SELECT @@unique_checks"},
	{name: "autocommit", do: []string{"SET autocommit = 0"}, sees: "SELECT @@autocommit"},
	{name: "character set", do: []string{"SET NAMES latin1"}, sees: "SELECT @@character_set_client, @@collation_connection"},
	{name: "temporary table", do: []string{"CREATE TEMPORARY TABLE tt (a INT)"}, sees: "SELECT * FROM tt"},
	{name: "prepared statement", do: []string{"PREPARE st FROM 'SELECT 1'"}, sees: "EXECUTE st"},
	{name: "user lock", do: []string{"SELECT GET_LOCK('ks_reset', 0)"}, sees: "SELECT IS_FREE_LOCK('ks_reset')"},
	{name: "handler", do: []string{"HANDLER base OPEN"}, sees: "HANDLER base READ FIRST"},
	{name: "locked tables", do: []string{"LOCK TABLES base READ"}, sees: "UPDATE base SET a = a"},
	{name: "transaction", do: []string{"BEGIN", "INSERT INTO base VALUES (9)"}, sees: "SELECT COUNT(*) FROM base"},
	{name: "isolation of the session", do: []string{"SET SESSION TRANSACTION READ ONLY"}, sees: "INSERT IGNORE INTO base VALUES (1)"},
	{name: "isolation of the next transaction", do: []string{"SET TRANSACTION READ ONLY"}, sees: "UPDATE base SET a = a"},
	{name: "LAST_INSERT_ID", do: []string{"DO LAST_INSERT_ID(77)"}, sees: "SELECT LAST_INSERT_ID()"},
	{name: "insert_id", do: []string{"SET insert_id = 77"}, sees: "SELECT @@insert_id"},
	{name: "timestamp", do: []string{"SET timestamp = 1000"}, sees: "SELECT NOW() < '2001-01-01'"},
	{name: "random seed", do: []string{"SET rand_seed1 = 1, rand_seed2 = 1"}, sees: "SELECT RAND() = " + seeded},
	{name: "FOUND_ROWS", do: []string{"SELECT SQL_CALC_FOUND_ROWS a FROM base LIMIT 1"}, sees: "SELECT FOUND_ROWS()"},
	{name: "ROW_COUNT", do: []string{"UPDATE base SET a = a + 10"}, sees: "SELECT ROW_COUNT()"},
	{name: "LASTVAL", do: []string{"SELECT NEXTVAL(seq)"}, sees: "SELECT LASTVAL(seq)", only: mysqltest.MariaDB},
	{name: "warnings", do: []string{"SELECT CAST('x' AS SIGNED)"}, sees: "SHOW WARNINGS"},
	{name: "errors", do: []string{"SELECT missing"}, sees: "SHOW ERRORS"},
	{name: "profiles", do: []string{"SET profiling = 1", "SELECT 'secret'", "SET profiling = 0"}, sees: "SHOW PROFILES"},
	{name: "optimizer trace", do: []string{"SET optimizer_trace = 'enabled=on'", "SELECT * FROM base WHERE a = 7"}, sees: "SELECT QUERY FROM information_schema.OPTIMIZER_TRACE"},
	{name: "status counters", do: []string{"SELECT 1"}, sees: "SHOW SESSION STATUS LIKE 'Com_select'"},
	{name: "last cost", do: []string{"SELECT COUNT(*) FROM base x, base y, base z"}, sees: "SHOW SESSION STATUS LIKE 'Last_query_cost'"},
	{name: "role", do: []string{"SET ROLE ks_role"}, sees: "SELECT CURRENT_ROLE()"},
	{name: "database", do: []string{"USE information_schema"}, sees: "SELECT DATABASE()"},
	{name: "resource group", do: []string{"SET RESOURCE GROUP ks_group"}, sees: "SELECT RESOURCE_GROUP FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()", only: mysqltest.MySQL9},
	{name: "statement history", do: []string{"SELECT 'secret'"}, sees: "SELECT SQL_TEXT FROM performance_schema.events_statements_history WHERE SQL_TEXT LIKE '%''secret''' AND THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID())"},
	{name: "user variables by thread", do: []string{"SET @secret = 1"}, sees: "SELECT VARIABLE_NAME FROM performance_schema.user_variables_by_thread WHERE VARIABLE_NAME = 'secret'"},
}

// seeded is what RAND() gives after rand_seed1 and rand_seed2 were set to 1.
const seeded = "0.000000011175870967343478"

// What of a session a server keeps over a reset of the connection, whichever way it is made: the proxy closes such a connection, or the
// right to see it is not the client's.
func TestWhatSurvivesAReset(t *testing.T) {
	want := map[mysqltest.Kind][]string{
		mysqltest.MariaDB: {"profiles", "role"},
		mysqltest.MySQL9:  {"optimizer trace", "role"},
	}
	// These are the proxy's own matter: it answers FOUND_ROWS itself, and knows which database and character set a connection has.
	known := map[string]bool{"FOUND_ROWS": true, "database": true, "character set": true}
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		for how, reset := range map[string]func(c *mysqltest.RawClient) error{
			"COM_RESET_CONNECTION": func(c *mysqltest.RawClient) error {
				_, err := c.Command(mysql.ComResetConnection, "")
				return err
			},
			"COM_CHANGE_USER": func(c *mysqltest.RawClient) error { return c.ChangeUser("root", "root", database) },
		} {
			setup := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
			for _, text := range []string{"CREATE SEQUENCE IF NOT EXISTS seq", "CREATE ROLE IF NOT EXISTS ks_role", "GRANT ks_role TO CURRENT_USER()", "GRANT ks_role TO root@localhost",
				"CREATE RESOURCE GROUP ks_group TYPE = USER"} {
				_, _ = setup.Query(text) // where the server has it
			}
			survives := map[string]bool{}
			able := 0
			for _, s := range survivors {
				if s.only != "" && s.only != server.Kind {
					continue
				}

				must(t, setup, "DROP TABLE IF EXISTS base")
				must(t, setup, "CREATE TABLE base (a INT PRIMARY KEY)")
				must(t, setup, "INSERT INTO base VALUES (1), (2), (3)")
				fresh := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
				clean := outcomeOf(t, fresh, s.sees)
				fresh.Close()
				soil := func() *mysqltest.RawClient {
					c := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
					for _, text := range s.do {
						outcomeOf(t, c, text)
					}
					return c
				}
				c := soil()
				if outcomeOf(t, c, s.sees) != clean {
					able++
				}
				c.Close()
				mysqltest.WaitFor(t, "the first to be gone", func() bool { return outcomeOf(t, setup, "SELECT IS_FREE_LOCK('ks_reset')") == "[[1]]" })
				c = soil()
				if err := reset(c); err != nil {
					t.Fatal(err)
				}
				if after := outcomeOf(t, c, s.sees); after != clean && !known[s.name] {
					survives[s.name] = true
					t.Logf("%s: %s: %.100s, of a fresh session %.100s", how, s.name, after, clean)
				}
				c.Close()
			}
			if able < 20 {
				t.Errorf("%s: only %d things could be seen", how, able)
			}
			if how == "COM_CHANGE_USER" && server.Kind == mysqltest.MySQL9 && !survives["role"] {
				survives["role"] = true // this it takes away
			}
			got := slices.Sorted(maps.Keys(survives))
			if fmt.Sprint(got) != fmt.Sprint(want[server.Kind]) {
				t.Errorf("over %s survive %s; want %s", how, strings.Join(got, ", "), strings.Join(want[server.Kind], ", "))
			}
		}
	})
}
