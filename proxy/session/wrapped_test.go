package session_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
)

// wrapper is a way to have a server carry out a statement within others. The statements of setup come ahead, those of run behind.
type wrapper struct {
	name         string
	maria, mysql bool
	setup        func(s string) []string
	text         func(s string) string
	run          []string
	undo         []string
	// unknown: only the server knows the text, and nobody can ask for it ahead: it is refused whatever it is.
	unknown bool
	// later: the statement is carried out when something else happens.
	later bool
}

func quoted(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "'", "''") + "'"
}

func hexed(s string) string { return "x'" + hex.EncodeToString([]byte(s)) + "'" }

// halves cuts a statement in the middle.
func halves(s string) (string, string) { return s[:len(s)/2], s[len(s)/2:] }

// rest cuts a statement behind its first word.
func rest(s string) (string, string) {
	first, more, _ := strings.Cut(s, " ")
	return first, more
}

func format(f string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(f, "S;", s+";") }
}

// wrappers are all ways by themselves, and many within each other.
func wrappers() (list []wrapper) {
	add := func(w wrapper) { list = append(list, w) }
	both := func(name string, text func(string) string) {
		add(wrapper{name: name, maria: true, mysql: true, text: text})
	}
	maria := func(name string, text func(string) string) { add(wrapper{name: name, maria: true, text: text}) }
	both("plain", func(s string) string { return s })
	both("blanks", func(s string) string { return " \t\n" + strings.ReplaceAll(s, " ", " \n ") + " ;" })
	both("comments", func(s string) string { return "/* a */-- b\n# c\n" + strings.ReplaceAll(s, " ", " /* ' */ ") })
	both("lower case", strings.ToLower)
	both("version comment", func(s string) string { return "/*!40101 " + s + " */" })
	both("bare version comment", func(s string) string { return "/*! " + s + "*/" })
	both("first word in a version comment", func(s string) string { a, b := rest(s); return "/*!40101 " + a + " */ " + b })
	both("rest in a version comment", func(s string) string { a, b := rest(s); return a + " /*!40101 " + b + " */" })
	maria("comment for MariaDB", func(s string) string { return "/*M!100000 " + s + " */" })

	// Texts that are prepared.
	texts := []struct {
		name    string
		of      func(s string) string
		setup   func(s string) []string
		literal bool
	}{
		{"a literal", quoted, nil, true},
		{"a literal in double quotes", func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }, nil, true},
		{"a literal with escapes", func(s string) string {
			return "'\\" + s[:1] + strings.NewReplacer("'", `\'`, `\`, `\\`).Replace(s[1:]) + "'"
		}, nil, true},
		{"a version comment in a literal", func(s string) string { return quoted("/*!40101 " + s + " */") }, nil, true},
		{"a variable", func(string) string { return "@w" }, func(s string) []string { return []string{"SET @w = " + quoted(s)} }, true},
		{"a variable of an expression", func(string) string { return "@w" }, func(s string) []string {
			a, b := halves(s)
			return []string{"SET @w = CONCAT(" + quoted(a) + ", " + quoted(b) + ")"}
		}, true},
		{"a variable of a query", func(string) string { return "@`w`" }, func(s string) []string { return []string{"SELECT " + hexed(s) + " INTO @w"} }, true},
		{"an introducer", func(s string) string { return "_utf8mb4 " + hexed(s) }, nil, false},
		{"two literals", func(s string) string { a, b := halves(s); return quoted(a) + " " + quoted(b) }, nil, false},
		{"CONCAT", func(s string) string { a, b := halves(s); return "CONCAT(" + quoted(a) + ", (" + quoted(b) + "))" }, nil, false},
		{"FROM_BASE64", func(s string) string { return "FROM_BASE64('" + base64.StdEncoding.EncodeToString([]byte(s)) + "')" }, nil, false},
		{"IF", func(s string) string { return "IF(1 = 1, " + quoted(s) + ", 'DO 1')" }, nil, false},
		{"two variables", func(string) string { return "CONCAT(@w, @x)" }, func(s string) []string {
			a, b := halves(s)
			return []string{"SET @w = " + quoted(a) + ", @x = " + quoted(b)}
		}, false},
	}
	for _, x := range texts {
		add(wrapper{
			name: "PREPARE of " + x.name, maria: true, mysql: x.literal, setup: x.setup, text: func(s string) string { return "PREPARE w FROM " + x.of(s) },
			run: []string{"EXECUTE w"}, undo: []string{"DEALLOCATE PREPARE w"},
		})
		add(wrapper{name: "EXECUTE IMMEDIATE of " + x.name, maria: true, setup: x.setup, text: func(s string) string { return "EXECUTE IMMEDIATE " + x.of(s) }})
		add(wrapper{
			name: "SET STATEMENT, EXECUTE IMMEDIATE of " + x.name, maria: true, setup: x.setup,
			text: func(s string) string {
				return "SET STATEMENT max_statement_time = 100 FOR EXECUTE IMMEDIATE " + x.of(s)
			},
		})
		add(wrapper{
			name: "BEGIN NOT ATOMIC, EXECUTE IMMEDIATE of " + x.name, maria: true, setup: x.setup, unknown: !strings.Contains(x.name, "literal") || x.name == "two literals",
			text: func(s string) string { return "BEGIN NOT ATOMIC EXECUTE IMMEDIATE " + x.of(s) + "; END" },
		})
	}
	maria("SET STATEMENT", func(s string) string { return "SET STATEMENT max_statement_time = 100 FOR " + s })
	maria("SET STATEMENT twice", func(s string) string {
		return "SET STATEMENT max_statement_time = 100 FOR SET STATEMENT sort_buffer_size = 100000, sql_mode = '' FOR " + s
	})
	maria("SET STATEMENT of a query", func(s string) string {
		return "SET STATEMENT max_statement_time = (SELECT 100 FROM DUAL LIMIT 1) FOR " + s
	})
	maria("SET STATEMENT in a version comment", func(s string) string { return "/*!40101 SET */ STATEMENT /*M! max_statement_time = 100 FOR */" + s })
	maria("SET STATEMENT, PREPARE", func(s string) string { return "SET STATEMENT max_statement_time = 100 FOR PREPARE w FROM " + quoted(s) })
	maria("SET STATEMENT sql_mode, EXECUTE IMMEDIATE", func(s string) string {
		return "SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR EXECUTE IMMEDIATE " + quoted(s)
	})
	maria("EXECUTE IMMEDIATE, SET STATEMENT", func(s string) string {
		return "EXECUTE IMMEDIATE " + quoted("SET STATEMENT max_statement_time = 100 FOR "+s)
	})
	maria("EXECUTE IMMEDIATE, BEGIN NOT ATOMIC", func(s string) string { return "EXECUTE IMMEDIATE " + quoted("BEGIN NOT ATOMIC "+s+"; END") })
	maria("EXECUTE IMMEDIATE four times", func(s string) string {
		return "EXECUTE IMMEDIATE " + quoted("BEGIN NOT ATOMIC EXECUTE IMMEDIATE "+quoted("SET STATEMENT sql_mode = '' FOR EXECUTE IMMEDIATE "+quoted(s))+"; END")
	})
	for _, f := range []string{
		"BEGIN NOT ATOMIC S; END", "BEGIN NOT ATOMIC DECLARE v INT DEFAULT CASE WHEN 1 THEN 2 ELSE 3 END; S; END",
		"BEGIN NOT ATOMIC SELECT 'a;', \"b;\", `c;` FROM (SELECT 1 AS `c;`) d; S; END", "BEGIN NOT ATOMIC BEGIN END; x: BEGIN S; END x; END",
		"BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLSTATE VALUE '45000', SQLEXCEPTION, NOT FOUND S; SIGNAL SQLSTATE '45000'; END",
		"BEGIN NOT ATOMIC DECLARE c CURSOR FOR SELECT 1; DECLARE CONTINUE HANDLER FOR 1329 BEGIN S; END; OPEN c; CLOSE c; SIGNAL SQLSTATE '02000'; END",
		"IF 1 = 1 THEN S; END IF", "IF 0 THEN DO 1; ELSEIF CASE 1 WHEN 1 THEN 1 END THEN S; END IF", "IF 0 THEN DO 1; ELSE S; END IF",
		"CASE 1 WHEN 1 THEN S; END CASE", "CASE WHEN 0 THEN DO 1; ELSE S; END CASE",
		"FOR i IN 1..1 DO S; END FOR", "FOR r IN (SELECT 1 AS v) DO S; END FOR", "REPEAT S; UNTIL 1 END REPEAT", "REPEAT UNTIL 1 END REPEAT",
		"BEGIN NOT ATOMIC x: LOOP S; LEAVE x; END LOOP; END", "BEGIN NOT ATOMIC x: WHILE 1 DO S; LEAVE x; END WHILE x; END",
		"BEGIN NOT ATOMIC /*!40101 DO 1; */ S; END", "/*!40101 BEGIN NOT ATOMIC */ S; /*!40101 END */",
	} {
		if strings.Contains(f, "S;") {
			maria(f, format(f))
		}
	}
	oracle := func(f string) {
		add(wrapper{name: "ORACLE: " + f, maria: true, text: format(f), setup: func(string) []string { return []string{"SET sql_mode = 'ORACLE'"} }, undo: []string{"SET sql_mode = DEFAULT"}})
	}
	oracle("BEGIN S; END")
	oracle("DECLARE v INT := 1; BEGIN S; END")
	oracle("<<x>> BEGIN S; EXCEPTION WHEN OTHERS THEN DO 1; END")
	for _, mode := range []string{"ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"} {
		add(wrapper{
			name: mode + ", EXECUTE IMMEDIATE", maria: true, setup: func(string) []string { return []string{"SET sql_mode = '" + mode + "'"} },
			text: func(s string) string { return "EXECUTE IMMEDIATE '" + strings.ReplaceAll(s, "'", "''") + "'" }, undo: []string{"SET sql_mode = DEFAULT"},
		})
		// The mode is set where the proxy may not see it.
		add(wrapper{
			name: mode + " unseen, a string that ends elsewhere", maria: true,
			setup: func(string) []string { return []string{"EXECUTE IMMEDIATE 'SET sql_mode = ''" + mode + "'''"} },
			text: func(s string) string {
				if strings.Contains(mode, "BACKSLASH") {
					return `BEGIN NOT ATOMIC SET @a = 'x\'; ` + s + `; SET @b = 'y\'; END`
				}
				return "BEGIN NOT ATOMIC SET @a = 1; " + s + "; SET @b = 'y'; END"
			},
			undo: []string{"SET sql_mode = DEFAULT"},
		})
	}
	// Bodies.
	for _, f := range []string{"S;", "BEGIN DECLARE v INT DEFAULT 1; S; END", "x: BEGIN IF 1 THEN S; END IF; END x"} {
		body := func(head string) func(string) string {
			return func(s string) string { return head + strings.TrimSuffix(format(f)(s), ";") }
		}
		add(wrapper{
			name: "procedure: " + f, maria: true, mysql: true, later: true, setup: func(string) []string { return []string{"DROP PROCEDURE IF EXISTS w_p"} },
			text: body("CREATE PROCEDURE w_p(IN a CHAR(5) CHARACTER SET latin1, INOUT b INT) SQL SECURITY INVOKER COMMENT 'BEGIN' "),
			run:  []string{"CALL w_p('a', @b)"}, undo: []string{"DROP PROCEDURE IF EXISTS w_p"},
		})
		add(wrapper{
			name: "event: " + f, maria: true, mysql: true, later: true, setup: func(string) []string { return []string{"DROP EVENT IF EXISTS w_e"} },
			text: body("CREATE DEFINER = CURRENT_USER EVENT w_e ON SCHEDULE EVERY 1 DAY STARTS CURRENT_TIMESTAMP + INTERVAL 1 DAY COMMENT 'DO' DO "),
			undo: []string{"DROP EVENT IF EXISTS w_e"},
		})
		add(wrapper{
			name: "changed event: " + f, maria: true, mysql: true, later: true,
			setup: func(string) []string {
				return []string{"DROP EVENT IF EXISTS w_e", "CREATE EVENT w_e ON SCHEDULE EVERY 1 DAY STARTS CURRENT_TIMESTAMP + INTERVAL 1 DAY DO DO 1"}
			},
			text: body("ALTER EVENT w_e DO "), undo: []string{"DROP EVENT IF EXISTS w_e"},
		})
	}
	add(wrapper{
		name: "procedure within SET STATEMENT", maria: true, later: true, setup: func(string) []string { return []string{"DROP PROCEDURE IF EXISTS w_p"} },
		text: func(s string) string { return "SET STATEMENT max_statement_time = 100 FOR CREATE PROCEDURE w_p() " + s }, undo: []string{"DROP PROCEDURE IF EXISTS w_p"},
	})
	add(wrapper{
		name: "prepared procedure", maria: true, later: true, setup: func(string) []string { return []string{"DROP PROCEDURE IF EXISTS w_p"} },
		text: func(s string) string { return "EXECUTE IMMEDIATE " + quoted("CREATE PROCEDURE w_p() BEGIN "+s+"; END") }, undo: []string{"DROP PROCEDURE IF EXISTS w_p"},
	})
	return list
}

// danger is a statement that no wrapper may carry to a server.
type danger struct {
	text         string
	maria, mysql bool
	// alone: the session answers it itself where it comes by itself.
	alone bool
}

// dangers are statements about the account pool_w that the proxy uses, other connections, the server, and other users' statements. %d is the
// id of a connection on the server.
func dangers(victim int) (list []danger) {
	add := func(maria, mysql, alone bool, texts ...string) {
		for _, t := range texts {
			list = append(list, danger{strings.ReplaceAll(t, "%d", fmt.Sprint(victim)), maria, mysql, alone})
		}
	}
	add(true, true, false,
		"ALTER USER CURRENT_USER() IDENTIFIED BY 'taken'", "ALTER USER CURRENT_USER IDENTIFIED BY 'taken'", "ALTER USER pool_w@'%' IDENTIFIED BY 'taken'",
		"ALTER USER `pool_w` IDENTIFIED BY 'taken'", "ALTER USER IF EXISTS nobody, 'pool_w'@'%' IDENTIFIED BY 'taken'", "ALTER USER CURRENT_USER() ACCOUNT LOCK",
		"SET PASSWORD = 'taken'", "SET PASSWORD FOR CURRENT_USER() = 'taken'", "SET PASSWORD FOR pool_w@'%' = 'taken'",
		"RENAME USER pool_w@'%' TO gone@'%'", "RENAME USER other_w@'%' TO pool_w@localhost", "DROP USER pool_w@'%'", "DROP USER IF EXISTS nobody@'%', pool_w@'%'",
		"CREATE USER pool_w@'127.0.0.1' IDENTIFIED BY 'taken'", "CREATE USER IF NOT EXISTS ''@'127.0.0.1'", "CREATE ROLE pool_w",
		"REVOKE ALL PRIVILEGES, GRANT OPTION FROM pool_w@'%'", "REVOKE SELECT ON *.* FROM CURRENT_USER()", "GRANT SELECT ON *.* TO pool_w@'%'",
		"SET GLOBAL max_connections = 77", "SET @@GLOBAL.max_connections = 77", "SET @a = 1, GLOBAL max_connections = 77", "SET @@GLOBAL .max_connections = 77",
		"SET SESSION sql_log_bin = 0", "SET @@session.sql_log_bin = 0", "SET @x = 1, @@sql_log_bin = 0",
		"FLUSH TABLES WITH READ LOCK", "FLUSH LOCAL TABLES WITH READ LOCK", "SHUTDOWN", "INSTALL PLUGIN w SONAME 'w.so'", "UNINSTALL PLUGIN w",
		"SELECT * FROM information_schema.processlist", "SELECT info FROM `INFORMATION_SCHEMA` . `ProcessList` p", "SELECT * FROM information_schema.innodb_trx",
		"SELECT * FROM performance_schema.threads", "SELECT * FROM performance_schema.events_statements_current", "SELECT sql_text FROM performance_schema.events_statements_history_long",
		"SELECT * FROM performance_schema.events_statements_summary_by_digest", "SELECT * FROM performance_schema.user_variables_by_thread",
		"SELECT * FROM performance_schema.prepared_statements_instances", "SELECT * FROM sys.session", "SELECT * FROM sys.processlist", "SELECT * FROM sys.`x$statement_analysis`",
		"SELECT * FROM sys.innodb_lock_waits", "SHOW ENGINE INNODB STATUS", "SHOW ENGINE PERFORMANCE_SCHEMA STATUS", "SHOW BINLOG EVENTS",
		"SELECT * FROM mysql.user", "SELECT authentication_string FROM mysql.user WHERE user = 'pool_w'", "INSERT INTO mysql.db (Host, Db, User) VALUES ('%', 'x', 'y')",
		"UPDATE mysql.user SET max_questions = 1", "DELETE FROM mysql.user WHERE user = 'pool_w'", "CREATE TABLE w_copy AS SELECT * FROM mysql.user", "SELECT * FROM mysql.general_log",
		"CREATE VIEW w_view AS SELECT * FROM information_schema.processlist", "SHOW CREATE USER CURRENT_USER()", "SHOW CREATE USER pool_w@'%'",
		"CALL sys.execute_prepared_stmt('SHUTDOWN')", "CALL sys.ps_setup_enable_consumer('events')", "DO (SELECT COUNT(*) FROM information_schema.processlist)",
		"SET @x = (SELECT GROUP_CONCAT(info) FROM information_schema.processlist)", "SHOW TABLES WHERE (SELECT COUNT(*) FROM information_schema.processlist) > 0",
		"SELECT * FROM information_schema.`processlİst`", "SELECT * FROM INFORMATION_SCHEMA.PROCEſſLIST", "SET sql_lög_bin = 0", "SET SESSION `ſql_log_bin` = 0", "SET @@sql_lóg_bin = 0",
		"SET @@session.sql_lóg_bin = 0", "SET SESSION `sql_log_bin ` = 0", "SET @@session.`sql_log_bin ` = 0", "SET @a = 1, `SQL_log_bin  ` = 0", "SET @a = 1, pseudo_thread_íd = 7",
		"UPDATE mysql.proc SET body = 'x'", "INSERT INTO mysql.component VALUES (99, 99, 'file://x')", "DELETE FROM mysql.func", "REPLACE INTO mysql.plugin VALUES ('w', 'w.so')",
		"TRUNCATE mysql.func", "ALTER TABLE mysql.event ADD x INT", "LOCK TABLES mysql.func WRITE", "UPDATE w_t, mysql.func SET a = 1, ret = 1", "CREATE TABLE mysql.w (a INT)",
		"SELECT * FROM mysql.servers", "CREATE SERVER w FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')", "ALTER SERVER w OPTIONS (HOST 'x')", "DROP SERVER IF EXISTS w",
		"CREATE FUNCTION w RETURNS STRING SONAME 'w.so'", "CREATE AGGREGATE FUNCTION w RETURNS INT SONAME 'w.so'",
		"UPDATE performance_schema.setup_instruments SET enabled = 'NO'", "TRUNCATE performance_schema.events_waits_history", "INSERT INTO performance_schema.setup_actors VALUES ('%', '%', '%')",
	)
	add(true, true, true, "KILL %d", "KILL CONNECTION %d", "KILL QUERY %d", "SHOW PROCESSLIST", "SHOW FULL PROCESSLIST")
	add(false, true, false,
		"ALTER USER USER() IDENTIFIED BY 'taken'", "ALTER USER CURRENT_USER() IDENTIFIED BY 'taken' RETAIN CURRENT PASSWORD", "ALTER USER pool_w@'%' DISCARD OLD PASSWORD",
		"ALTER USER CURRENT_USER() IDENTIFIED BY RANDOM PASSWORD", "ALTER USER CURRENT_USER() DEFAULT ROLE NONE", "ALTER USER pool_w@'%' ADD 2 FACTOR IDENTIFIED BY 'x'",
		"ALTER USER USER() 2 FACTOR INITIATE REGISTRATION", "SET PASSWORD TO RANDOM", "SET DEFAULT ROLE NONE TO pool_w@'%'", "SET DEFAULT ROLE ALL TO nobody, CURRENT_USER()",
		"GRANT pool_w@'%' TO other_w@'%'", "SET PERSIST max_connections = 77", "SET PERSIST_ONLY max_connections = 77", "RESET PERSIST", "RESTART",
		"LOCK INSTANCE FOR BACKUP", "CLONE LOCAL DATA DIRECTORY = '/nowhere'", "ALTER INSTANCE ROTATE INNODB MASTER KEY", "INSTALL COMPONENT 'file://w'",
		"CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'x'", "TABLE mysql.user", "SELECT * FROM performance_schema.data_locks", "SELECT * FROM performance_schema.processlist",
		"SELECT * FROM performance_schema.error_log", "SELECT sys.ps_thread_trx_info(%d)", "EXPLAIN FOR CONNECTION %d",
	)
	add(true, false, false,
		"SET PASSWORD = PASSWORD('taken')", "SET @a = 1, PASSWORD = PASSWORD('taken')", "SET PASSWORD FOR pool_w@'%' = PASSWORD('taken'), @a = 1",
		"CREATE OR REPLACE USER pool_w@'%' IDENTIFIED BY 'taken'", "ALTER USER CURRENT_USER IDENTIFIED VIA mysql_native_password USING PASSWORD('taken')",
		"GRANT USAGE ON *.* TO pool_w@'%' IDENTIFIED BY 'taken'", "GRANT USAGE ON *.* TO CURRENT_USER() IDENTIFIED BY 'taken'", "SET DEFAULT ROLE NONE",
		"SET DEFAULT ROLE NONE FOR pool_w@'%'", "SET @a = 1, DEFAULT ROLE NONE", "UPDATE mysql.global_priv SET Priv = '{}' WHERE User = 'pool_w'", "DROP DATABASE mysql",
		"SELECT Priv FROM mysql.global_priv", "BACKUP STAGE START", "KILL USER pool_w", "KILL QUERY ID 1", "KILL HARD USER 'pool_w'", "KILL SOFT QUERY USER pool_w", "INSTALL SONAME 'w'",
		"CHANGE MASTER TO MASTER_HOST = 'x'", "STOP SLAVE", "SHOW EXPLAIN FOR %d", "SHOW ANALYZE FORMAT=JSON FOR %d", "EXPLAIN FOR CONNECTION %d", "SHOW ENGINE ALL STATUS",
		"FLUSH TABLES w_t WITH READ LOCK", "SELECT * FROM information_schema.innodb_lock_waits", "CALL mysql.AddGeometryColumn('a', 'b', 'c', 'd', 1)",
		"HANDLER w_t OPEN", "CREATE OR REPLACE SERVER w FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')", "CREATE OR REPLACE FUNCTION w RETURNS STRING SONAME 'w.so'",
	)
	add(true, false, true, "KILL SOFT CONNECTION %d", "KILL HARD %d")
	return list
}

// proxysOwn are the codes of the proxy's own refusals.
var proxysOwn = []uint16{kserror.RefusedVariable, kserror.RefusedStatement, kserror.LocalInfile, mysql.ERSpecificAccessDenied}

// wrapping is a server and a proxy that logs in there as pool_w, for users with and without the right process.
type wrapping struct {
	t              *testing.T
	maria          bool
	addr           string
	direct, victim *mysqltest.RawClient
	server         *mysqltest.RealServer
}

func startWrapping(t *testing.T, kind mysqltest.Kind, settings ...map[string]string) *wrapping {
	cfg := mysqltest.ServerConfig{Kind: kind}
	if len(settings) > 0 {
		cfg.Settings = settings[0]
	}
	server, err := mysqltest.StartServer(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	w := &wrapping{t: t, server: server, maria: kind == mysqltest.MariaDB}
	w.direct = dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
	for _, sql := range []string{
		"CREATE DATABASE wrapped", "CREATE TABLE wrapped.w_t (a INT)", "CREATE USER pool_w@'%' IDENTIFIED BY 'pool'", "GRANT ALL ON *.* TO pool_w@'%' WITH GRANT OPTION",
		"CREATE USER other_w@'%' IDENTIFIED BY 'other'", "USE wrapped",
	} {
		must(t, w.direct, sql)
	}
	w.victim = dial(t, server.Addr, mysqltest.ClientConfig{User: "pool_w", Password: "pool"})
	black := filepath.Join(t.TempDir(), "black")
	if err := os.WriteFile(black, []byte("update w_t set a = 1 where a = 2 or a is null\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.addr = startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
blacklist_sql_file: %s
user_list:
  - {user: black, password: black}
  - {user: plain, password: plain}
  - {user: dba, password: dba, process: true}
  - {user: ruled, password: ruled}
  - {user: worded, password: worded}
  - {user: reader, password: reader, read_only: true}
query_rules:
  - {name: no-delete, users: [ruled], classes: [delete], block: no}
  - {name: no-word, users: [worded], pattern: '(?i)a\s*=\s*4711\s+where', block: no}
nodes: [{name: n, max_conns_limit: 8, user: pool_w, password: pool, master: "%s", allow_public_key_retrieval: true}]
schema_list:
  - {user: plain, nodes: [n], default: n}
  - {user: black, nodes: [n], default: n}
  - {user: dba, nodes: [n], default: n}
  - {user: ruled, nodes: [n], default: n}
  - {user: worded, nodes: [n], default: n}
  - {user: reader, nodes: [n], default: n}
`, black, server.Addr))
	return w
}

// client logs in to the proxy.
func (w *wrapping) client(user string) *mysqltest.RawClient {
	return dial(w.t, w.addr, mysqltest.ClientConfig{User: user, Password: user, DB: "wrapped"})
}

// whole is what must stay as it is on the server.
func (w *wrapping) whole() string {
	w.t.Helper()
	hash := "SELECT CONCAT_WS(' ', user, host, authentication_string, account_locked, Grant_priv, Super_priv) FROM mysql.user WHERE user IN ('pool_w', 'other_w', '', 'gone') ORDER BY user, host"
	if w.maria {
		hash = "SELECT CONCAT_WS(' ', User, Host, Priv) FROM mysql.global_priv WHERE User IN ('pool_w', 'other_w', '', 'gone') ORDER BY User, Host"
	}
	var b strings.Builder
	for _, sql := range []string{hash, "SELECT @@global.max_connections, @@global.read_only", "SELECT COUNT(*) FROM information_schema.tables WHERE table_name LIKE 'w\\_copy' OR table_name LIKE 'w\\_view'"} {
		fmt.Fprintln(&b, must(w.t, w.direct, sql).Rows)
	}
	must(w.t, w.direct, "INSERT INTO wrapped.w_t VALUES (0)") // nothing locks the server
	must(w.t, w.victim, "SELECT 1")
	return b.String()
}

// refused reports how an answer is no refusal of the proxy's own; "" if it is.
func refused(r *mysqltest.RawResult, err error) string {
	e, ok := err.(*mysql.SQLError)
	if err != nil && !ok {
		return err.Error()
	}
	if err == nil {
		if e = r.Err; e == nil {
			return "done"
		}
	}
	// Servers deny access in other words, and 1295 is what the proxy says of PREPARE by the binary protocol.
	if !slices.Contains(proxysOwn, e.Code) && (err == nil || e.Code != mysql.ERUnsupportedPS) ||
		e.Code == mysql.ERSpecificAccessDenied && !strings.Contains(e.Message, "right process") {
		return e.Error()
	}
	return ""
}

// Whatever it is wrapped in, no statement about the proxy's own account, other clients' connections, the server itself or other users' texts
// reaches a server, as text or by COM_STMT_PREPARE.
func TestWrappedDangers(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			id := mustInt(t, w.victim, "SELECT CONNECTION_ID()")
			was, cases := w.whole(), 0
			all := dangers(id)
			c := w.client("plain")
			do := func(name string, list []string, set string) {
				for _, sql := range list {
					if r, err := c.Query(sql); err != nil || r.Err != nil {
						t.Fatalf("%s: %s of %s: %v %v", name, sql, set, r, err)
					}
				}
			}
			for _, wr := range wrappers() {
				if w.maria && !wr.maria || !w.maria && !wr.mysql {
					continue
				}
				for _, d := range all {
					if w.maria && !d.maria || !w.maria && !d.mysql || d.alone && plainWrapper(wr.name) {
						continue
					}
					if wr.setup != nil {
						do(wr.name, wr.setup(d.text), d.text)
					}
					text := wr.text(d.text)
					if why := refused(c.Query(text)); why != "" {
						t.Errorf("%s: %s: %s", wr.name, text, why)
						if c.Conn != nil {
							c.Close()
						}
						c = w.client("plain")
						continue
					}
					if _, err := c.Prepare(text); err == nil {
						t.Errorf("%s: prepared: %s", wr.name, text)
					} else if why := refused(nil, err); why != "" {
						t.Errorf("%s: prepared: %s: %s", wr.name, text, why)
					}
					cases += 2
				}
				do(wr.name, nil, "")
				if strings.Contains(strings.Join(wr.undo, ""), "sql_mode") {
					do(wr.name, wr.undo, "")
				}
				if now := w.whole(); now != was {
					t.Fatalf("%s: the server has changed\n%s\n%s", wr.name, was, now)
				}
			}
			if cases < 1000 {
				t.Errorf("%d cases", cases)
			}
			t.Logf("%d cases", cases)
		})
	}
}

// plainWrapper tells those in which a statement still is one by itself.
func plainWrapper(name string) bool {
	return slices.Contains([]string{"plain", "blanks", "comments", "lower case", "version comment", "bare version comment", "first word in a version comment",
		"rest in a version comment", "comment for MariaDB"}, name)
}

// benign are statements that leave nothing but rows of the table, with what they are to give in a compound statement: rows or nothing.
var benign = []string{
	"INSERT INTO w_t VALUES (41)", "INSERT INTO w_t SELECT 'it''s; KILL 5' + 1", "UPDATE w_t SET a = a + 1", "DELETE FROM w_t WHERE a = 0", "SELECT COUNT(*), SUM(a), 'a\\'b', \"SHUTDOWN\" FROM w_t",
	"SELECT 'KILL 5' AS `SET GLOBAL x = 1`", "REPLACE INTO w_t VALUES (7)", "DO 1 + 1", "SET @own = 5", "SELECT table_name FROM information_schema.tables WHERE table_schema = 'wrapped' AND table_name = 'w_t'",
	"CREATE TEMPORARY TABLE w_tmp AS SELECT 1 AS `user`", "DROP TEMPORARY TABLE w_tmp", "CREATE USER app_w@'%' IDENTIFIED BY 'pool_w'", "ALTER USER app_w@'%' IDENTIFIED BY 'x'",
	"GRANT SELECT ON wrapped.* TO app_w@'%'", "DROP USER app_w@'%'", "SELECT * FROM nowhere", "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'pool_w'",
}

// all are the statements of a wrapper around one, and two that show what came of them.
func (w *wrapper) all(s string) (list []string) {
	if w.setup != nil {
		list = w.setup(s)
	}
	list = append(append(list, w.text(s)), w.run...)
	return append(append(list, w.undo...), "SELECT SUM(a), COUNT(*) FROM w_t", "SELECT @own")
}

// answered writes an answer in short.
func answered(r *mysqltest.RawResult, err error) string {
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for ; r != nil; r = r.Next {
		switch {
		case r.Err != nil:
			fmt.Fprintf(&b, "error %d %s;", r.Err.Code, r.Err.Message)
		case len(r.Columns) > 0:
			fmt.Fprintf(&b, "%v %v;", r.Names(), r.Rows)
		default:
			fmt.Fprintf(&b, "%d rows;", r.OK.AffectedRows)
		}
	}
	return b.String()
}

// What does no harm gives in every wrapper what the server gives, or where nobody can know the text ahead it is refused.
func TestWrappedStatements(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			must(t, w.direct, "CREATE DATABASE wrapped_d")
			must(t, w.direct, "CREATE TABLE wrapped_d.w_t (a INT)")
			same, carriedOut := 0, 0
			for _, wr := range wrappers() {
				if w.maria && !wr.maria || !w.maria && !wr.mysql {
					continue
				}
				straight := dial(t, w.server.Addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "wrapped_d"})
				through := w.client("plain")
				for _, s := range benign {
					if wr.name == "lower case" && s != strings.ToLower(s) && strings.ContainsAny(s, "'`") {
						continue // another statement
					}
					mode := strings.Contains(wr.name, "BACKSLASH") || strings.HasPrefix(wr.name, "ANSI") // texts as they are
					if mode && strings.ContainsAny(s, "\\\"") {
						continue
					}
					// The proxy's client has an account and a database of its own to work on.
					s2 := strings.ReplaceAll(s, "app_w", "app_p")
					all, other := wr.all(s), wr.all(s2)
					for k, sql := range all {
						want, got := answered(straight.Query(sql)), answered(through.Query(other[k]))
						got = strings.ReplaceAll(strings.ReplaceAll(got, "app_p", "app_w"), "'wrapped.", "'wrapped_d.")
						if wr.unknown && sql == wr.text(s) {
							if !strings.HasPrefix(got, fmt.Sprintf("error %d ", kserror.RefusedStatement)) {
								t.Errorf("%s: %s: %s", wr.name, sql, got)
							}
							break
						}
						if want != got {
							t.Errorf("%s: %s\n gives %s\nnot %s", wr.name, sql, got, want)
							break
						}
						same++
						if sql == wr.text(s) && !strings.HasPrefix(want, "error") {
							carriedOut++
						}
					}
				}
				straight.Close()
				through.Close()
				must(t, w.direct, "TRUNCATE wrapped.w_t")
				must(t, w.direct, "TRUNCATE wrapped_d.w_t")
			}
			if carriedOut < 300 {
				t.Errorf("only %d were carried out", carriedOut)
			}
			t.Logf("%d answers alike, %d statements carried out", same, carriedOut)
		})
	}
}
