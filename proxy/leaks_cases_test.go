package proxy_test

import (
	"fmt"
	"strings"

	"kingshard/mysql/mysqltest"
)

// dirt is something that a statement can leave behind on its connection.
type dirt struct {
	name string
	// statement leaves it; expression does as part of another one; either may be empty.
	statement, expression string
	sees                  string // what another client asks to see it
	// asks is asked of the server, beside the proxy, instead: of locks.
	asks string
	only mysqltest.Kind
	// not says where it cannot be: in functions and triggers.
	not  string
	full bool // with every carrier, not with some of them
}

var dirts = []dirt{
	{name: "variable", statement: "SET @leak = 7", expression: "(@leak := 7)", sees: "SELECT @leak", full: true},
	{name: "variable into", statement: "SELECT 7 INTO @leak", sees: "SELECT @leak"},
	{name: "group_concat_max_len", statement: "SET SESSION group_concat_max_len = 77", sees: "SELECT @@group_concat_max_len", full: true},
	{name: "sql_select_limit", statement: "SET sql_select_limit = 1", sees: "SELECT @@sql_select_limit"},
	{name: "foreign_key_checks", statement: "SET @@foreign_key_checks = 0", sees: "SELECT @@foreign_key_checks"},
	{name: "unique_checks", statement: "SET @@session.unique_checks = OFF", sees: "SELECT @@unique_checks"},
	{name: "time_zone", statement: "SET LOCAL time_zone = '+05:00'", sees: "SELECT @@time_zone"},
	{name: "lc_time_names", statement: "SET lc_time_names = 'de_DE'", sees: "SELECT DATE_FORMAT('2000-01-01', '%M')"},
	{name: "div_precision_increment", statement: "SET div_precision_increment = 9", sees: "SELECT 1/3"},
	{name: "sql_safe_updates", statement: "SET sql_safe_updates = 1", sees: "SELECT @@sql_safe_updates"},
	{name: "sql_mode", statement: "SET sql_mode = 'ANSI_QUOTES'", sees: `SELECT "id" FROM host`},
	{name: "names", statement: "SET NAMES latin1", sees: "SELECT @@character_set_client, @@collation_connection"},
	{name: "two variables", statement: "SET @leak = 7, SESSION sql_select_limit = 1, @@div_precision_increment = 7", sees: "SELECT @leak, @@sql_select_limit, 1/3"},
	{name: "isolation", statement: "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", sees: "SELECT @@tx_isolation", only: mysqltest.MariaDB},
	{name: "isolation", statement: "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", sees: "SELECT @@transaction_isolation", only: mysqltest.MySQL9},
	{name: "isolation and more", statement: "SET @@tx_isolation = 'SERIALIZABLE', SESSION sql_mode = 'ANSI', @leak = 1", sees: "SELECT @@sql_mode, @leak", only: mysqltest.MariaDB},
	{name: "isolation and more", statement: "SET @@transaction_isolation = 'SERIALIZABLE', SESSION sql_mode = 'ANSI', @leak = 1", sees: "SELECT @@sql_mode, @leak", only: mysqltest.MySQL9},
	{name: "timestamp", statement: "SET timestamp = 1000", sees: "SELECT NOW() < '2001-01-01'"},
	{name: "insert_id", statement: "SET insert_id = 999", sees: "SELECT @@insert_id"},
	{name: "autocommit", statement: "SET autocommit = 0", sees: "SELECT @@autocommit", not: "function"},
	{name: "temporary table", statement: "CREATE TEMPORARY TABLE IF NOT EXISTS leaked AS SELECT 7 AS a", sees: "SELECT a FROM leaked", full: true},
	{name: "lock", expression: "GET_LOCK('ks_leak', 0)", statement: "DO GET_LOCK('ks_leak', 0)", asks: "SELECT IS_FREE_LOCK('ks_leak')", full: true},
	{name: "LASTVAL", expression: "NEXTVAL(seq)", statement: "DO NEXTVAL(seq)", sees: "SELECT LASTVAL(seq)", only: mysqltest.MariaDB},
	{name: "previous value", expression: "(NEXT VALUE FOR seq)", statement: "DO NEXT VALUE FOR seq", sees: "SELECT PREVIOUS VALUE FOR seq", only: mysqltest.MariaDB},
	{name: "LAST_INSERT_ID", expression: "LAST_INSERT_ID(77)", statement: "DO LAST_INSERT_ID(77)", sees: "SELECT * FROM lid"},
	{name: "prepared statement", statement: "PREPARE leak FROM 'SELECT 42'", sees: "EXECUTE leak", not: "function"},
	{name: "role", statement: "SET ROLE ks_leak", sees: "SELECT CURRENT_ROLE()", not: "function"},
	{name: "profiling", statement: "SET profiling = 1", sees: "SHOW PROFILES", not: "function"},
	{name: "optimizer_trace", statement: "SET optimizer_trace = 'enabled=on'", sees: "SELECT COUNT(*) FROM information_schema.OPTIMIZER_TRACE"},
}

// leakCase is a client's doings; what they leave behind on a bare connection is the sees or asks of its dirt.
type leakCase struct {
	name       string
	dirt       *dirt
	setup, run []string
	binary     bool // by COM_STMT_PREPARE and COM_STMT_EXECUTE
}

// carrier is a way by which dirt gets onto a connection. %S stands for the statement, %X for the expression, %Q for the statement in a
// string; %f, %p, %t and %v for names of a function, a procedure, a table and a view of the case's own. What it needs of these is made before.
type carrier struct {
	name, run string // statements end with a line's end
	only      mysqltest.Kind
	binary    bool
	needs     string // objects that need the dirt: function, procedure, trigger
	more      string // further objects
}

const (
	overFunction = "CREATE VIEW %v AS SELECT id, %f() AS x FROM host"
	overTrigger  = "CREATE VIEW %v AS SELECT * FROM %t"
)

var carriers = []carrier{
	{name: "plain", run: "%S"},
	{name: "plain, prepared", run: "%S", binary: true},
	{name: "select", run: "SELECT %X"},
	{name: "select by key", run: "SELECT id, %X FROM host WHERE id = 1"},
	{name: "select, prepared", run: "SELECT %X", binary: true},
	{name: "where", run: "SELECT id FROM host WHERE %X >= 0"},
	{name: "do", run: "DO %X"},
	{name: "set", run: "SET @other = %X"},
	{name: "show tables", run: "SHOW TABLES WHERE %X >= 0"},
	{name: "show variables", run: "SHOW VARIABLES WHERE %X >= 0"},
	{name: "show status, prepared", run: "SHOW STATUS WHERE %X >= 0", binary: true},
	{name: "insert", run: "INSERT INTO sink VALUES (%X)"},
	{name: "update", run: "UPDATE host SET v = %X WHERE id = 1"},
	{name: "create table", run: "CREATE TABLE %t AS SELECT %X AS a\nDROP TABLE %t"},

	{name: "immediate", run: "EXECUTE IMMEDIATE %Q", only: mysqltest.MariaDB},
	{name: "immediate expression", run: "EXECUTE IMMEDIATE CONCAT(%Q, '')", only: mysqltest.MariaDB},
	{name: "immediate that fails later", run: "EXECUTE IMMEDIATE CONCAT('BEGIN NOT ATOMIC ', %Q, '; SELECT missing; END')", only: mysqltest.MariaDB},
	{name: "text prepared", run: "PREPARE pp FROM %Q\nEXECUTE pp\nDEALLOCATE PREPARE pp"},
	{name: "variable prepared", run: "SET @text = %Q\nPREPARE pp FROM @text\nEXECUTE pp\nDEALLOCATE PREPARE pp"},
	{name: "set statement", run: "SET STATEMENT max_statement_time = 100 FOR %S", only: mysqltest.MariaDB},
	{name: "set statement select", run: "SET STATEMENT max_statement_time = 100 FOR SELECT %X", only: mysqltest.MariaDB},
	{name: "compound", run: "BEGIN NOT ATOMIC %S; END", only: mysqltest.MariaDB},
	{name: "compound that fails", run: "BEGIN NOT ATOMIC %S; SELECT missing; END", only: mysqltest.MariaDB},
	{name: "if", run: "IF 1 THEN %S; END IF", only: mysqltest.MariaDB},
	{name: "analyze", run: "ANALYZE SELECT %X", only: mysqltest.MariaDB},
	{name: "explain analyze", run: "EXPLAIN ANALYZE SELECT %X", only: mysqltest.MySQL9},

	{name: "call", run: "CALL %p()", needs: "procedure"},
	{name: "call, prepared", run: "CALL %p()", needs: "procedure", binary: true},
	{name: "call that fails", run: "CALL %v()", needs: "procedure", more: "CREATE PROCEDURE %v() BEGIN CALL %p(); SELECT missing; END"},
	{name: "immediate call", run: "EXECUTE IMMEDIATE 'CALL %p()'", needs: "procedure", only: mysqltest.MariaDB},

	{name: "function", run: "SELECT %f()", needs: "function"},
	{name: "function, prepared", run: "SELECT %f()", needs: "function", binary: true},
	{name: "function of a schema", run: "SELECT `" + database + "` . `%f` ()", needs: "function"},
	{name: "function of a table", run: "SELECT /* c */ %f /* c */ () FROM host WHERE id = 1", needs: "function"},
	{name: "function in where", run: "SELECT id FROM host WHERE v < %f() + 10", needs: "function"},
	{name: "function in order", run: "SELECT id FROM host ORDER BY %f() + id", needs: "function"},
	{name: "function in insert", run: "INSERT INTO sink VALUES (%f())", needs: "function"},
	{name: "function in update", run: "UPDATE host SET v = %f() WHERE id = 1", needs: "function"},
	{name: "function in delete", run: "DELETE FROM host WHERE id = 10 + %f() + id", needs: "function"},
	{name: "function in do", run: "DO %f()", needs: "function"},
	{name: "function in set", run: "SET @other = %f()", needs: "function"},
	{name: "function in show", run: "SHOW TABLES WHERE %f() = 1", needs: "function"},
	{name: "function in a transaction", run: "BEGIN\nSELECT %f()\nCOMMIT", needs: "function"},
	{name: "function in a derived table", run: "SELECT * FROM (SELECT %f() AS a) AS d", needs: "function"},
	{name: "function in with", run: "WITH c AS (SELECT %f() AS a) SELECT * FROM c", needs: "function"},
	{name: "function in union", run: "SELECT 1 UNION SELECT %f()", needs: "function"},
	{name: "function of a function", run: "SELECT %v()", needs: "function", more: "CREATE FUNCTION %v() RETURNS INT BEGIN RETURN %f(); END"},
	{name: "function in set statement", run: "SET STATEMENT max_statement_time = 100 FOR SELECT %f()", needs: "function", only: mysqltest.MariaDB},
	{name: "function that fails", run: "SELECT %f(), missing FROM host\nSELECT %f() FROM host WHERE (SELECT id FROM host UNION SELECT 2) = 1", needs: "function"},

	{name: "view", run: "SELECT x FROM %v", needs: "function", more: overFunction},
	{name: "view by key", run: "SELECT * FROM %v WHERE id = 1\nSELECT * FROM %v WHERE id = 1\nSELECT * FROM %v WHERE id = 1", needs: "function", more: overFunction},
	{name: "view, prepared", run: "SELECT x FROM %v WHERE id = 1", needs: "function", more: overFunction, binary: true},
	{name: "view of a schema", run: "SELECT * FROM `" + database + "`.`%v`", needs: "function", more: overFunction},
	{name: "view of a view", run: "SELECT * FROM %t", needs: "function", more: overFunction + "\nCREATE VIEW %t AS SELECT x + 1 FROM %v"},
	{name: "view in a join", run: "SELECT h.id FROM host h JOIN %v USING (id) WHERE x = 1", needs: "function", more: overFunction},
	{name: "view in insert", run: "INSERT INTO sink SELECT x FROM %v", needs: "function", more: overFunction},
	{name: "view of an expression", run: "SELECT * FROM %v", more: "CREATE VIEW %v AS SELECT %X AS x"},
	{name: "view in a table statement", run: "TABLE %v", needs: "function", more: overFunction, only: mysqltest.MySQL9},

	{name: "insert trigger", run: "INSERT INTO %t VALUES (9, 9)", needs: "BEFORE INSERT"},
	{name: "insert trigger, prepared", run: "INSERT INTO %t VALUES (9, 9)", needs: "BEFORE INSERT", binary: true},
	{name: "insert trigger of a failure", run: "INSERT INTO %t VALUES (1, 9)", needs: "BEFORE INSERT"},
	{name: "insert trigger in a transaction", run: "BEGIN\nINSERT INTO %t VALUES (9, 9)\nROLLBACK", needs: "AFTER INSERT"},
	{name: "insert select", run: "INSERT INTO %t SELECT 9, 9", needs: "AFTER INSERT"},
	{name: "insert ignore", run: "INSERT IGNORE INTO %t VALUES (1, 9)", needs: "BEFORE INSERT"},
	{name: "on duplicate key", run: "INSERT INTO %t VALUES (1, 9) ON DUPLICATE KEY UPDATE v = 8", needs: "BEFORE UPDATE"},
	{name: "replace", run: "REPLACE INTO %t VALUES (1, 9)", needs: "BEFORE DELETE"},
	{name: "update trigger", run: "UPDATE %t SET v = 8 WHERE id = 1", needs: "AFTER UPDATE"},
	{name: "update of a join", run: "UPDATE host JOIN %t USING (id) SET %t.v = 8 WHERE id = 1", needs: "BEFORE UPDATE"},
	{name: "delete trigger", run: "DELETE FROM `%t` WHERE id = 1", needs: "BEFORE DELETE"},
	{name: "delete of a join", run: "DELETE %t FROM host JOIN %t USING (id)", needs: "AFTER DELETE"},
	{name: "insert into a view", run: "INSERT INTO %v VALUES (9, 9)", needs: "BEFORE INSERT", more: overTrigger},
	{name: "update of a view", run: "UPDATE %v SET v = 8", needs: "BEFORE UPDATE", more: overTrigger},
	{name: "trigger of a trigger", run: "INSERT INTO %v VALUES (9)", needs: "BEFORE INSERT",
		more: "CREATE TABLE %v (n INT)\nCREATE TRIGGER %vg BEFORE INSERT ON %v FOR EACH ROW REPLACE INTO %t VALUES (NEW.n, 1)"},
	{name: "trigger that calls", run: "INSERT INTO %v VALUES (9)", needs: "procedure",
		more: "CREATE TABLE %v (n INT)\nCREATE TRIGGER %vg BEFORE INSERT ON %v FOR EACH ROW CALL %p()"},
	{name: "trigger of a function", run: "SELECT %v()", needs: "AFTER INSERT",
		more: "CREATE FUNCTION %v() RETURNS INT BEGIN REPLACE INTO %t VALUES (9, 9); RETURN 1; END"},
	{name: "default", run: "INSERT INTO %v (n) VALUES (1)", more: "CREATE TABLE %v (n INT, s BIGINT DEFAULT %X)", only: mysqltest.MariaDB},
}

// leakCases makes the cases for a kind of server.
func leakCases(kind mysqltest.Kind) (list []leakCase) {
	for d := range dirts {
		dirt := &dirts[d]
		if dirt.only != "" && dirt.only != kind {
			continue
		}
		for n, c := range carriers {
			all := c.run + c.more
			switch {
			case c.only != "" && c.only != kind, dirt.expression == "" && strings.Contains(all, "%X"), dirt.statement == "" && !strings.Contains(all, "%X"):
				continue
			case dirt.not == "function" && c.needs != "" && c.needs != "procedure", dirt.not == "function" && strings.Contains(c.more, "TRIGGER"):
				continue
			case c.name == "default" && strings.Contains(dirt.expression, "@"):
				// MariaDB 10.11 itself crashes now and then when another connection uses such a table: the default of the table in its cache
				// still speaks of the variable of the one that has gone.
				continue
			case !dirt.full && (n+d)%3 != 0 && n > 1:
				continue
			}
			list = append(list, c.with(len(list), dirt))
		}
	}
	return list
}

// with makes the k-th case.
func (c *carrier) with(k int, d *dirt) leakCase {
	names := strings.NewReplacer("%S", d.statement, "%X", d.expression, "%Q", "'"+strings.ReplaceAll(d.statement, "'", "''")+"'",
		"%f", fmt.Sprint("lf", k), "%p", fmt.Sprint("lp", k), "%t", fmt.Sprint("lt", k), "%v", fmt.Sprint("lv", k), "%B", d.statement)
	body := ""
	switch c.needs {
	case "":
	case "function":
		body = "CREATE FUNCTION %f() RETURNS INT NOT DETERMINISTIC READS SQL DATA BEGIN %B; RETURN 1; END"
	case "procedure":
		body = "CREATE PROCEDURE %p() BEGIN %B; END"
	default:
		body = "CREATE TABLE %t (id INT PRIMARY KEY, v INT)\nINSERT INTO %t VALUES (1, 1)\nCREATE TRIGGER %tg " + c.needs + " ON %t FOR EACH ROW BEGIN %B; END"
	}
	lines := func(text string) (list []string) {
		for _, line := range strings.Split(text, "\n") {
			if line != "" {
				list = append(list, names.Replace(line))
			}
		}
		return list
	}
	return leakCase{name: d.name + ", " + c.name, dirt: d, setup: append(lines(body), lines(c.more)...), run: lines(c.run), binary: c.binary}
}
