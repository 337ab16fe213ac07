package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
)

// atomicConfig turns the mode on, on servers that need not survive a loss of power.
const atomicConfig = "transaction_mode: atomic\nxa_on_unsafe_server: true\n"

// What a statement changes on several nodes, which all keep or none, is what one server makes of it; an error leaves nothing anywhere.
func TestAtomicChanges(t *testing.T) {
	onAtomicShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		file := "100\tloaded\t1\n101\tloaded\t2\n102\tloaded\t3\n103\tloaded\t4\n"
		for _, sql := range []string{
			"INSERT INTO users (id, name, n) VALUES (60, 'a', 1), (61, 'b', 2), (62, 'c', 3), (63, 'd', 4)",
			"INSERT INTO users (id, name, n) VALUES (70, 'a', 1), (71, 'b', 2), (62, 'twice', 3), (73, 'd', 4)",
			"INSERT IGNORE INTO users (id, name, n) VALUES (70, 'a', 1), (71, 'b', 2), (62, 'twice', 3), (73, 'd', 4)",
			"INSERT INTO users (id, name, n) VALUES (70, 'a', 1), (74, 'b', 2) ON DUPLICATE KEY UPDATE n = n + 10",
			"REPLACE INTO users (id, name, n) VALUES (70, 'r', 1), (71, 'r', 2), (72, 'r', 3), (75, 'r', 3)",
			"UPDATE users SET n = n + 1", "UPDATE users SET n = n + 1 WHERE id > 1000",
			"UPDATE users SET n = 'x' WHERE id < 20", "UPDATE users SET n = 7 ORDER BY id LIMIT 9", "DELETE FROM users WHERE n = 3", "DELETE FROM users ORDER BY id DESC LIMIT 5",
			"LOAD DATA LOCAL INFILE 'x' INTO TABLE users (id, name, n)", "INSERT INTO countries VALUES ('IT', 'Italy')", "INSERT INTO countries VALUES ('IT', 'again')", "UPDATE countries SET name = UPPER(name)",
			"SET timestamp = 1600000000", "UPDATE users SET d = NOW() WHERE id < 30", "SELECT NOW()", "SET timestamp = DEFAULT", "SET sql_mode = ''", "UPDATE users SET n = 'x' WHERE id < 20", "SET sql_mode = DEFAULT",
			"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "UPDATE users SET n = 5 WHERE n = 7", "SET completion_type = 'CHAIN'", "DELETE FROM users WHERE id > 30",
			"SET completion_type = DEFAULT",
		} {
			data := ""
			if strings.HasPrefix(sql, "LOAD") {
				data = file
			}
			s.both(t, sql, data, "users", "countries")
		}
		committed := 0
		for _, n := range s.nodes {
			if rows := must(t, n, "XA RECOVER").Rows; len(rows) > 0 {
				t.Errorf("prepared: %v", rows)
			}
			committed += mustInt(t, n, "SELECT COUNT(*) FROM ks_meta.dtx WHERE state = 'C'")
		}
		if committed < 15 {
			t.Errorf("only %d decisions", committed)
		}
	})
}

// A server that does not qualify is an error ahead of any change, which says what to set.
func TestAtomicOnUnsafeServers(t *testing.T) {
	atomic := strings.Replace(atomicConfig, "true", "false", 1)
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			s := startShards(t, append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...), []int{1, 1}, rowsSchema, atomic)
			for id := range 8 {
				must(t, s.subject, fmt.Sprintf("INSERT INTO users (id, n) VALUES (%d, 1)", id)) // of one node each
			}
			r, err := s.subject.Query("UPDATE users SET n = 100")
			if err != nil || r.Err == nil || r.Err.Code != 9018 || !strings.Contains(r.Err.Message, "transaction_mode is atomic: node n") || !strings.Contains(r.Err.Message, "innodb_flush_log_at_trx_commit is 2") {
				t.Errorf("%+v, %v", r, err)
			}
			must(t, s.subject, "UPDATE users SET n = 100 WHERE id = 1")
			for _, n := range s.nodes {
				if rows := must(t, n, "SHOW TABLES LIKE 'users%'").Rows; len(rows) != 1 || mustInt(t, n, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE n = 100 AND id <> 1", rows[0][0])) != 0 {
					t.Errorf("%v has changed rows", rows)
				}
			}
		})
	}
}

// onAtomicShards is onShards with the mode on.
func onAtomicShards(t *testing.T, schema string, f func(t *testing.T, s *shards)) {
	onAtomicShardsOf(t, false, schema, f)
}

// onAtomicShardsOf is onAtomicShards, with observed on servers that say who waits for whom.
func onAtomicShardsOf(t *testing.T, observed bool, schema string, f func(t *testing.T, s *shards)) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOfSort(t, nodeSort{kind, observed})...)
			for _, locations := range [][]int{{1, 1}, {2, 2}} {
				t.Run(fmt.Sprint(locations), func(t *testing.T) { f(t, startShards(t, servers, locations, schema, atomicConfig)) })
			}
		})
	}
}
