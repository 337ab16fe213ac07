package proxy_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
)

// startUps are what drivers and applications send when they connect, ahead of their first statement on a table.
var startUps = map[string][]string{
	"mysql client":     {"select @@version_comment limit 1", "select USER()", "SELECT DATABASE()"},
	"go-sql-driver":    {"SET NAMES utf8mb4", "SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci", "SELECT @@max_allowed_packet", "SET sql_mode='ANSI_QUOTES'"},
	"PyMySQL":          {"SET NAMES utf8mb4", "SET AUTOCOMMIT = 0", "SELECT VERSION()"},
	"mysqlclient":      {"SET NAMES utf8mb4", "SET autocommit=1"},
	"Connector/Python": {"SET NAMES 'utf8mb4' COLLATE 'utf8mb4_general_ci'", "SET NAMES utf8mb4", "SET @@session.autocommit = OFF", "SELECT @@session.autocommit"},
	"SQLAlchemy":       {"SELECT @@transaction_isolation", "SELECT CAST('test plain returns' AS CHAR(60)) AS anon_1", "SELECT @@lower_case_table_names", "SELECT @@sql_mode"},
	"Connector/J 5":    {"/* mysql-connector-java-5.1.49 */SHOW VARIABLES WHERE Variable_name = 'language' OR Variable_name = 'net_write_timeout' OR Variable_name = 'interactive_timeout' OR Variable_name = 'wait_timeout' OR Variable_name = 'character_set_client' OR Variable_name = 'lower_case_table_names' OR Variable_name = 'max_allowed_packet' OR Variable_name = 'sql_mode' OR Variable_name = 'auto_increment_increment'", "SHOW WARNINGS", "SET NAMES utf8mb4", "SET character_set_results = NULL", "SET autocommit=1", "SET sql_mode='STRICT_TRANS_TABLES'", "select @@session.tx_read_only"},
	"Connector/J 8": {"/* mysql-connector-j-8.4.0 */SELECT  @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout",
		"SET character_set_results = NULL", "SET autocommit=1", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "/* ping */ SELECT 1"},
	"MariaDB Connector/J": {"select @@max_allowed_packet, @@wait_timeout", "set autocommit=1, sql_mode = concat(@@sql_mode,',STRICT_TRANS_TABLES')", "SET NAMES utf8mb4", "SELECT @@max_allowed_packet, @@system_time_zone, @@time_zone, @@auto_increment_increment"},
	"mysql2":              {"SELECT 1", "SET time_zone = '+00:00'", "SET SESSION sql_mode = 'TRADITIONAL'", "SELECT 1 + 1 AS solution"},
	"PDO, Laravel":        {"set names 'utf8mb4' collate 'utf8mb4_unicode_ci'", "use `test`;", "set session sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'"},
	"WordPress":           {"SET NAMES utf8mb4 COLLATE utf8mb4_unicode_520_ci", "SELECT @@SESSION.sql_mode", "SET SESSION sql_mode='NO_ZERO_IN_DATE'"},
	"Rails":               {"SET NAMES utf8mb4,  @@SESSION.sql_mode = CONCAT(CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), ',NO_AUTO_VALUE_ON_ZERO'),  @@SESSION.sql_auto_is_null = 0, @@SESSION.wait_timeout = 2147483", "SELECT VERSION()"},
	"Django":              {"SELECT VERSION(), @@sql_mode, @@default_storage_engine, @@sql_auto_is_null, @@lower_case_table_names, CONVERT_TZ('2001-01-01 01:00:00', 'UTC', 'UTC') IS NOT NULL", "SET SQL_AUTO_IS_NULL = 0", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET autocommit = 1"},
	".NET":                {"SHOW VARIABLES LIKE 'lower_case_table_names'", "SET NAMES utf8mb4", "SET character_set_results=NULL", "SELECT CONNECTION_ID(), VERSION()"},
	"pools":               {"SELECT 1", "select 1 from dual", "SELECT 'x'", "SELECT USER()", "SELECT CURRENT_USER()", "SELECT DATABASE(), SCHEMA()"},
}

// Who logs in and gets ready while any one node is silent, from the first moment on, waits for none.
func TestStartUpsWithoutANode(t *testing.T) {
	for _, kind := range bothKinds {
		for name, how := range map[string]func(*testing.T, *mysqltest.RealServer) vanishing{"stops": stopping, "loses packets": behindVeth} {
			for hung := range 2 {
				t.Run(fmt.Sprintf("%v, node %d %s", kind, hung, name), func(t *testing.T) {
					server := startOwn(t, mysqltest.ServerConfig{Kind: kind})
					v := how(t, server)
					other := mysqltest.Shared(t, kind)
					nodes := []node{{name: "a", master: v.addr, conns: 64}, {name: "b", master: other.Addr, conns: 64}}
					if hung == 1 {
						nodes[0], nodes[1] = nodes[1], nodes[0]
					}
					p := startProxy(t, configText(nodes, "health_timeout: 10s"), "pool_wait_timeout: 1h", "connect_timeout: 1h")
					well := func() bool {
						for _, n := range []string{"a", "b"} {
							if i := p.primary(n); i.State() != backend.Up || i.Doubted() {
								return false
							}
						}
						return p.primary("a").Variables.Same(&p.primary("b").Variables, "wait_timeout")
					}
					mysqltest.WaitFor(t, "both nodes", well)
					answers := map[string]string{}
					for driver, statements := range startUps {
						c := p.client("test")
						for _, text := range statements {
							answers[driver+text] = answer(t, c, text)
						}
						c.Close()
					}
					var longest time.Duration
					var slowest string
					for driver, statements := range startUps {
						mysqltest.WaitFor(t, "both nodes", well)
						v.vanish()
						began := time.Now()
						c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "test", Timeout: 4 * time.Second})
						step := func(what string) {
							took := time.Since(began)
							if took > longest {
								longest, slowest = took, driver+": "+what
							}
							if took > time.Second {
								t.Errorf("%s: %s took %v", driver, what, took.Round(time.Millisecond))
							}
							began = time.Now()
						}
						step("login")
						for _, text := range statements {
							if got, want := answer(t, c, text), answers[driver+text]; got != want && !strings.Contains(text, "CONNECTION_ID") {
								t.Errorf("%s: %s: %s, want %s", driver, text, got, want)
							}
							step(text)
						}
						v.comeBack()
						c.Close()
					}
					v.vanish()
					defer v.comeBack()
					waits(t, p, hung == 0)
					t.Logf("the longest step took %v: %s", longest.Round(time.Millisecond), slowest)
				})
			}
		}
	}
}

// answer is what a client sees of the answer to a statement.
func answer(t *testing.T, c *mysqltest.RawClient, text string) string {
	t.Helper()
	r, err := c.Query(text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return ""
	}
	if r.Err != nil {
		return r.Err.Error()
	}
	if r.OK != nil {
		slices.Sort(r.OK.StateChanges) // servers tell them in any order
		return fmt.Sprintf("%+v", *r.OK)
	}
	return fmt.Sprintf("%+v %q", r.Columns, r.Rows)
}

// waits checks that what two servers need not answer alike is not answered by the other.
func waits(t *testing.T, p *testProxy, hangs bool) {
	var all sync.WaitGroup
	for _, text := range []string{"SELECT @@port", "SELECT NOW()", "SHOW VARIABLES LIKE 'port'", "SELECT COUNT(*) FROM information_schema.tables",
		"SELECT @@global.time_zone", "SHOW GLOBAL VARIABLES LIKE 'time_zone'", "SELECT @@read_only", "SELECT @@no_such_variable",
		"SET time_zone = 'Europe/Berlin'", "SET default_storage_engine = InnoDB", "SET no_such_variable = 1", "SET CHARACTER SET latin1"} {
		c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "test", Timeout: 200 * time.Millisecond})
		all.Go(func() { // each waits for its time
			if _, err := c.Query(text); (err != nil) != hangs {
				t.Errorf("%s: %v, want it to wait: %v", text, err, hangs)
			}
			c.Close()
		})
	}
	all.Wait()
}
