package session_test

import (
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
	"kingshard/mysql/sqltext"
)

// Whatever name a server takes for that of another variable is an odd one: each character of the first plane but ideographs before, within and behind.
func TestOddVariables(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			taken, asked := 0, 0
			for c := rune(1); c <= 0xFFFF; c++ {
				if c == 0x3000 {
					c = 0xF900 // in between are ideographs and syllables, which no collation takes for a letter of ASCII
				}
				if c == '`' || c == '.' {
					continue
				}
				for _, name := range []string{string(c) + "sql_mode", "sql_m" + string(c) + "ode", "sql_m" + string(c) + "de", "sql_mode" + string(c)} {
					if strings.EqualFold(name, "sql_mode") && !sqltext.Wide(name) {
						continue
					}
					asked++
					r, err := w.direct.Query("SET SESSION `" + name + "` = ''")
					if err != nil {
						t.Fatalf("%q: %v", name, err)
					}
					if r.Err != nil {
						continue
					}
					taken++
					if !sqltext.Odd(name) {
						t.Errorf("the server takes %q for sql_mode", name)
					}
				}
			}
			if !w.maria && taken == 0 {
				t.Error("the server took none")
			}
			t.Logf("%d of %d taken", taken, asked)
		})
	}
}

// Names of prepared statements and of variables that a server may take for others are refused.
func TestOddNames(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			c := w.client("plain")
			must(t, c, "PREPARE `se` FROM 'SELECT 1'")
			for _, sql := range []string{
				"PREPARE `se ` FROM 'SELECT 2'", "PREPARE sé FROM 'SELECT 2'", "PREPARE `se\t` FROM 'SELECT 2'", "EXECUTE `se `", "EXECUTE sé", "DEALLOCATE PREPARE `se `",
				"DROP PREPARE sé", "SET `autocommit ` = 0", "SET @@session.`sql_mode ` = ''", "SET LOCAL `sql_mode ` = ''",
			} {
				if why := refused(c.Query(sql)); why != "" {
					t.Errorf("%s: %s", sql, why)
				}
			}
			must(t, c, "EXECUTE se")
			must(t, c, "DEALLOCATE PREPARE `SE`")
		})
	}
}

// Whatever blanks and comments are around the dots of a privileged or global variable, no client sets it: also comments that servers read in
// different ways, or that have others within.
func TestCommentsWithinVariables(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			c := w.client("plain")
			between := []string{"", " ", "\n", "\v", "/**/", "/* ' */", "/* /* */", "/*!*/", "/*! */", "/*!50000 */", "/*!999999 */", "/*!999999 ' */", "/*!999999 /* */ ' */", "/*!999999 /* */ x# */\n",
				"/*M!*/", "/*M!999999 ' */", "/*M!999999 /* */ ' */", "/*M!999999 /* */x#*/\n", "/*!50000 /* */ */", "/*M!100000 /* ' */ */", "/*m!999999 /* */ ' */", "# '\n", "#*/\n", "-- '\n", "--\t`\n", "--x\n"}
			set := 0
			for _, first := range between {
				for _, second := range between {
					for _, form := range []string{"SET @@session%1.%2sql_log_bin = 0", "SET @@global%1.%2max_connections = 100", "SET @@%1session.%2sql_log_bin = 0", "SELECT 1 INTO @x; SET @x = 1, @@local%1.%2sql_log_bin = 0"} {
						sql := strings.NewReplacer("%1", first, "%2", second).Replace(form)
						r, err := c.Query(sql)
						if err != nil {
							t.Fatalf("%q: %v", sql, err)
						}
						for r.Next != nil {
							r = r.Next
						}
						if r.Err == nil {
							t.Errorf("%q is let through", sql)
						}
						direct, err := w.direct.Query(sql)
						if err != nil {
							t.Fatalf("%q: %v", sql, err)
						}
						for direct.Next != nil {
							direct = direct.Next
						}
						if direct.Err == nil {
							set++
						}
					}
				}
			}
			must(t, w.direct, "SET SESSION sql_log_bin = 1")
			if set < 100 {
				t.Errorf("the server took %d only", set)
			}
			t.Logf("the server took %d", set)
		})
	}
}

// In the servers' own database mysql other databases can be made and dropped; that one and its tables cannot be changed.
func TestDatabasesMadeFromWithinMySQL(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			must(t, w.direct, "GRANT ALL ON made_from_mysql.* TO pool_w")
			c := w.client("plain")
			for _, sql := range []string{"USE mysql", "DROP DATABASE IF EXISTS made_from_mysql", "CREATE DATABASE made_from_mysql DEFAULT CHARACTER SET utf8", "ALTER SCHEMA made_from_mysql CHARACTER SET latin1",
				"DROP SCHEMA made_from_mysql"} {
				must(t, c, sql)
			}
			for _, sql := range []string{"DROP DATABASE mysql", "DROP SCHEMA `mysql`", "ALTER DATABASE mysql CHARACTER SET latin1", "CREATE TABLE made (a INT)", "DROP TABLE user", "CREATE OR REPLACE VIEW user AS SELECT 1",
				"ALTER TABLE user ADD COLUMN a INT", "RENAME TABLE user TO users"} {
				if why := refused(c.Query(sql)); why != "" {
					t.Errorf("%s: %s", sql, why)
				}
			}
		})
	}
}

// Texts that servers read in other words than the proxy are refused: by blanks and comments that only some character sets have, by versions of
// six digits, by numbers that servers drop, and names of accounts with blanks around them.
func TestTextsReadInOtherWords(t *testing.T) {
	for _, kind := range []mysqltest.Kind{mysqltest.MariaDB, mysqltest.MySQL9} {
		t.Run(string(kind), func(t *testing.T) {
			w := startWrapping(t, kind)
			attacks := map[string][]string{
				"latin1": {"ALTER\xA0USER CURRENT_USER() IDENTIFIED BY 'taken'", "SET\xA0GLOBAL max_connections=77", "KILL\xA05", "SHOW\xA0FULL PROCESSLIST", "SELECT info FROM information_schema\xA0.processlist",
					"SELECT 1 --\xA0'\n, info FROM information_schema.processlist -- '"},
				"cp852":  {"ALTER\xFFUSER CURRENT_USER() IDENTIFIED BY 'taken'", "SELECT 1 --\xFF '\n, info FROM information_schema.processlist -- '"},
				"cp1250": {"SELECT 1 --\x81 '\n, info FROM information_schema.processlist -- '", "SET @a = 1 --\x81 '\n, GLOBAL max_connections = 77 -- '"},
				"utf8mb4": {"SELECT info FROM information_schema 1.e.processlist", "ALTER USER 'pool_w '@'%' IDENTIFIED BY 'taken'", "ALTER USER ' pool_w'@'%' IDENTIFIED BY 'taken'", "DROP USER 'pool_w '@'%'",
					"SHOW WARNINGS LIMIT 18446744073709551615", "SHOW ERRORS LIMIT 0, 18446744073709551615"},
			}
			attacks["utf8mb4"] = append(attacks["utf8mb4"], "CREATE EVENT do ON SCHEDULE EVERY 1 DAY DO ALTER USER CURRENT_USER() IDENTIFIED BY 'taken'",
				"CREATE FUNCTION ff() RETURNS INT BEGIN IF (SELECT x.case FROM (SELECT 1 AS `case`) x) THEN KILL 5; END IF; RETURN 1; END",
				"CREATE TRIGGER t1 BEFORE INSERT ON row FOR EACH ROW KILL 5")
			if w.maria {
				attacks["utf8mb4"] = append(attacks["utf8mb4"], "IF (SELECT x.case FROM (SELECT 1 AS `case`) x) THEN ALTER USER CURRENT_USER() IDENTIFIED BY 'taken'; END IF",
					"IF (SELECT x.then FROM (SELECT 1 AS `then`) x) THEN SET GLOBAL max_connections=77; END IF", "BEGIN NOT ATOMIC sql_log_bin := 0; END",
					"BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'USE mysql'; EXECUTE IMMEDIATE 'UPDATE global_priv SET Priv=''{}'' WHERE User=''pool_w'''; END",
					"EXECUTE IMMEDIATE 'USE `information_schema`'", "sql_log_bin := 0", "sql_mode := 'NO_BACKSLASH_ESCAPES'")
			} else {
				attacks["utf8mb4"] = append(attacks["utf8mb4"], "SELECT /*!101011, info FROM information_schema.processlist*/", "SET @a = /*!101011, GLOBAL max_connections=77*/", "SELECT 1 /*!0800001 + 1*/")
			}
			for charset, texts := range attacks {
				for _, text := range texts {
					c := w.client("plain")
					must(t, c, "SET NAMES "+charset)
					if r, err := c.Query(text); err != nil || r.Err == nil {
						t.Errorf("%s: %q is let through", charset, text)
					}
					c.Close()
				}
			}
			c := w.client("plain")
			must(t, c, "SET NAMES latin1")
			for _, text := range []string{"SELECT 'caf\xe9\xa0'", "SELECT 1 AS caf\xe9", "SELECT '--\xa0', 2", "SELECT /*!80000 1 +*/ 1", "SELECT /*!080000 1 +*/ 1", "SELECT 1 -- \xe9\xa0\n + 1", "SHOW WARNINGS LIMIT 5", "SHOW WARNINGS",
				`/*!999999\- enable the sandbox mode */ SELECT 1`} {
				must(t, c, text)
			}
		})
	}
}
