package session

import (
	"strings"
	"testing"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/process"
)

// readers are the classes of statements of which some read only, with one that does.
var readers = map[sqltext.Class]string{
	sqltext.Empty: "", sqltext.Select: "SELECT 1", sqltext.With: "WITH c AS (SELECT 1) SELECT * FROM c", sqltext.Table: "TABLE t", sqltext.Values: "VALUES ROW(1)",
	sqltext.Set: "SET SESSION sort_buffer_size = 1", sqltext.Use: "USE d", sqltext.Show: "SHOW TABLES", sqltext.ShowWarnings: "SHOW WARNINGS",
	sqltext.ShowErrors: "SHOW ERRORS", sqltext.ShowProcesslist: "SHOW PROCESSLIST", sqltext.Describe: "DESC t", sqltext.Explain: "EXPLAIN SELECT 1",
	sqltext.Begin: "BEGIN", sqltext.Commit: "COMMIT", sqltext.Rollback: "ROLLBACK", sqltext.RollbackTo: "ROLLBACK TO a", sqltext.Savepoint: "SAVEPOINT a",
	sqltext.ReleaseSavepoint: "RELEASE SAVEPOINT a", sqltext.UnlockTables: "UNLOCK TABLES", sqltext.Kill: "KILL 5", sqltext.Prepare: "PREPARE s FROM 'SELECT 1'",
	sqltext.Execute: "EXECUTE IMMEDIATE 'SELECT 1'", sqltext.Deallocate: "DEALLOCATE PREPARE s", sqltext.Do: "DO SLEEP(0)",
	sqltext.GetDiagnostics: "GET DIAGNOSTICS @a = NUMBER", sqltext.Help: "HELP 'x'",
}

// Whatever its class and traits are, what is not known to read only is refused: no other class, no trait of effects, no Doubt.
func TestReadsOnlyByDefaultNothing(t *testing.T) {
	m := sqltext.Mode{MariaDB: true, ServerVersion: 101100}
	for c := range 256 {
		class := sqltext.Class(c)
		text, may := readers[class]
		info := sqltext.Info{Class: class}
		if may {
			info = sqltext.Classify(text, m)
			if class == sqltext.Values || class == sqltext.Table { // which are MySQL's
				info = sqltext.Classify(text, sqltext.Mode{ServerVersion: 80400})
			}
			if info.Class != class {
				t.Errorf("%q is of class %v", text, info.Class)
			}
		}
		if got := readsOnly(text, &info, m); got != may {
			t.Errorf("class %v: %v", class, got)
		}
		for bit := range 32 {
			one := info
			if one.Traits |= 1 << bit; one.Traits&mayWrite != 0 && readsOnly(text, &one, m) {
				t.Errorf("class %v reads only with trait %d", class, bit)
			}
		}
	}
	for _, bit := range []sqltext.Traits{
		sqltext.IntoOutfile, sqltext.ForUpdate, sqltext.GetLock, sqltext.EffectFunction, sqltext.Multi, sqltext.Doubt, sqltext.SetsState, sqltext.Body,
	} {
		if mayWrite&bit == 0 {
			t.Errorf("trait %b may not write", bit)
		}
	}
}

// writers are statements that a user who may only read cannot send, by the word that the answer begins with.
var writers = map[string]string{
	"INSERT INTO t VALUES (1)": "INSERT", "replace t values (1)": "REPLACE", "UPDATE t SET v = 1": "UPDATE", "DELETE FROM t": "DELETE", "TRUNCATE t": "TRUNCATE",
	"WITH c AS (SELECT 1) DELETE FROM t": "WITH", "/* SELECT */ UPDATE t SET v = 1": "UPDATE", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t": "LOAD",
	"CREATE TABLE x (id INT)": "CREATE", "CREATE TEMPORARY TABLE x (id INT)": "CREATE", "DROP TEMPORARY TABLE t": "DROP", "ALTER TABLE t ADD x INT": "ALTER",
	"CREATE TABLE x SELECT 1": "CREATE", "RENAME TABLE t TO x": "RENAME", "GRANT ALL ON *.* TO x": "GRANT",
	"SELECT * FROM t FOR UPDATE": "SELECT with a lock", "SELECT * FROM t LOCK IN SHARE MODE": "SELECT with a lock",
	"SELECT * FROM (SELECT * FROM t FOR UPDATE) d": "SELECT with a lock", "SELECT 1 INTO OUTFILE 'x'": "SELECT INTO OUTFILE",
	"SELECT effect(1)": "SELECT with a function that may have effects", "SELECT GET_LOCK('a', 1)": "SELECT with a function that may have effects",
	"SELECT * FROM t WHERE v = other.effect(id)": "SELECT with a function that may have effects", "DO effect(1)": "DO", "SHOW TABLES WHERE effect(1)": "SHOW",
	"CALL p()": "CALL", "SET GLOBAL sort_buffer_size = 1": "SET", "SET @@global.sort_buffer_size = 1": "SET", "SET @a = effect(1)": "SET",
	"SET @a = (SELECT v FROM t FOR UPDATE)": "SET", "SET ROLE admin": "SET", "SET PASSWORD = 'x'": "SET", "LOCK TABLES t WRITE": "LOCK", "FLUSH TABLES": "FLUSH",
	"XA START 'a'": "XA", "HANDLER t OPEN": "HANDLER", "EXPLAIN UPDATE t SET v = 1": "EXPLAIN", "EXPLAIN SELECT effect(1)": "EXPLAIN",
	"PREPARE s FROM 'DELETE FROM t'": "PREPARE", "PREPARE s FROM @x": "PREPARE", "EXECUTE nobody": "EXECUTE", "ADMIN DDL RESUME": "ADMIN", "KS RELOAD": "KS",
	"ANALYZE TABLE t": "ANALYZE", "OPTIMIZE TABLE t": "OPTIMIZE", "nonsense": "NONSENSE", "SELECT 1; DELETE FROM t": "SELECT",
	"SELECT 'a": "SELECT, which cannot be read for certain,", "SELECT 1 /*!50000 FOR UPDATE */": "SELECT with a lock", "/*!50000 DELETE FROM t */": "DELETE",
	"SELECT 1 /*!99900 FOR UPDATE */": "SELECT", "SELECT 1 /*!99900 INTO OUTFILE 'x' */": "SELECT", "/*!99900 DELETE FROM t */": "This",
	"SELECT 1 /*M! FOR UPDATE */": "SELECT", "SELECT 1 /*M!100000 INTO OUTFILE 'x' */": "SELECT", "/*M! DELETE FROM t */": "This",
	"PREPARE s FROM 'SELECT 1 /*!99900 FOR UPDATE */'": "PREPARE", "PREPARE s FROM 'SELECT 1 /*M! FOR UPDATE */'": "PREPARE", "SELECT 1 /*!99900 ; DELETE FROM t */": "SELECT",
}

// What an unknown server could read otherwise is refused, too: none of the servers has told its version.
func TestReadOnlyUser(t *testing.T) {
	s := benchSession(t)
	s.client.entry.Connect(nil, process.Who{User: "look", Host: "h"}, nil)
	delete(s.client.schema.Nodes, "n2") // which has no server
	s.client.account.ReadOnly = true
	for text, word := range writers {
		info := sqltext.Classify(text, s.client.mode())
		err := s.rights.permit(text, &info)
		if err == nil {
			t.Errorf("%s is permitted", text)
		} else if want := "ERROR 1142 (42000): " + word; !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), " command denied to user 'look'@'h': the user may only read") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for class, text := range readers {
		info := sqltext.Classify(text, s.client.mode())
		if class == sqltext.Execute {
			continue // IMMEDIATE is MariaDB's
		}
		if err := s.rights.permit(text, &info); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{
		"SELECT /*!40001 SQL_NO_CACHE */ * FROM t", "SET @@session.sql_mode = 'ANSI'", "SET NAMES utf8mb4", "SET TRANSACTION READ ONLY", "SELECT @a := 1",
		"SELECT 1 INTO @a", "START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */", "SELECT 'a FOR UPDATE', `update` FROM t -- FOR UPDATE",
		"(SELECT 1) UNION (SELECT 2)", "SELECT COUNT(*), NOW(), UUID() FROM t", "/*!40101 SET NAMES utf8mb4 */",
	} {
		info := sqltext.Classify(text, s.client.mode())
		if err := s.rights.permit(text, &info); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	// An EXECUTE goes by what was prepared, for whomever.
	for text, reads := range map[string]bool{"PREPARE reads FROM 'SELECT 1'": true, "PREPARE `Writes` FROM 'DELETE FROM t'": false} {
		q := &query{info: sqltext.Info{Class: sqltext.Prepare}}
		s.exchanges.prepared(&sqltext.Inner{Text: text, Mode: s.client.mode()}, reads, q)
		s.exchanges.nameStands(q, false)
	}
	for text, may := range map[string]bool{"EXECUTE reads": true, "EXECUTE `READS` USING @a": true, "EXECUTE writes": false, "EXECUTE other": false} {
		info := sqltext.Classify(text, s.client.mode())
		if err := s.rights.permit(text, &info); (err == nil) != may {
			t.Errorf("%s: %v", text, err)
		}
	}
	s.client.account.ReadOnly = false
	for text := range writers {
		info := sqltext.Classify(text, s.client.mode())
		if err := s.rights.permit(text, &info); err != nil {
			t.Errorf("%s of another user: %v", text, err)
		}
	}
}

// A user has servers of several kinds: what one of them would take for something else than the others is refused, and rights of
// administration do not make a text the proxy's own that it is not for all of them.
func TestReadOnlyUserOfOtherServers(t *testing.T) {
	s := benchSession(t)
	nodes, err := backend.Open(&config.Config{Nodes: []config.Node{{Name: "n", Master: "127.0.0.1:1", Slave: "127.0.0.1:2@1", MaxConnsLimit: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	defer nodes["n"].Close()
	s.client.schema.Nodes = nodes
	s.client.account.ReadOnly, s.client.account.Rights = true, account.Read
	servers := map[string]backend.Info{"new": {MariaDB: true, Number: 101100}, "old": {MariaDB: true, Number: 100300}, "mysql": {Number: 80400}}
	for text, readBy := range map[string]string{
		"SELECT uuid()": "new old mysql", "SELECT sys_guid()": "new old", "SELECT 1 /*M! FOR UPDATE */": "mysql", "/*M!100500 DELETE FROM t */": "old mysql",
		"/*!101100 ADMIN */ DELETE FROM t": "", "SHOW /*!101100 KS */ TABLES WHERE own(1)": "", "ADMIN; DELETE FROM t": "", "SHOW KS STATUS": "new old mysql",
	} {
		for first, as := range servers {
			s.client.state.Mode = sqltext.Mode{MariaDB: as.MariaDB, ServerVersion: int32(as.Number)}
			i := sqltext.Classify(text, s.client.mode())
			for second, info := range servers {
				nodes["n"].Primary.SetInfo(&as)
				nodes["n"].Replicas[0].SetInfo(&info)
				want := strings.Contains(readBy, first) && strings.Contains(readBy, second)
				if err := s.rights.permit(text, &i); (err == nil) != want {
					t.Errorf("%s, %s being the default beside %s: %v", text, first, second, err)
				}
			}
		}
	}
}
