package session_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"kingshard/backend"
	"kingshard/config"
	"kingshard/mysql/mysqltest"
)

// What a name stands for is what the server has: a PREPARE that fails leaves it, and a routine may give it to another text. What the text
// does to the session is known behind each EXECUTE, and holds over shards.
func TestNamesThatStandForOthers(t *testing.T) {
	onShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		s.everywhere(t, "CREATE PROCEDURE names_x() PREPARE x FROM 'CALL names_zone()'")
		s.everywhere(t, "CREATE PROCEDURE names_zone() BEGIN SET time_zone = '+05:00'; EXECUTE nosuch; END")
		s.everywhere(t, "CREATE PROCEDURE names_s() PREPARE s FROM 'SELECT SQL_CALC_FOUND_ROWS 1 UNION SELECT 2 UNION SELECT 3 LIMIT 1'")
		s.everywhere(t, "CREATE TABLE named (id INT PRIMARY KEY)")
		s.everywhere(t, "INSERT INTO named VALUES (1), (2), (3), (4)")
		for _, way := range [][]string{
			{"PREPARE s FROM 'SET sql_mode = ''NO_BACKSLASH_ESCAPES'''", "PREPARE s FROM 'SELECT 1' USING @x", "EXECUTE s", "SELECT 'a\\'", "SELECT id, 'x\\' FROM users ORDER BY id"},
			{"PREPARE s FROM 'SET time_zone = ''+05:00'''", "PREPARE s FROM 'SELECT 1' nonsense", "EXECUTE s", "SELECT id, FROM_UNIXTIME(id * 1000) FROM users ORDER BY id"},
			{"PREPARE s FROM 'SET time_zone = ''+05:00'''", "PREPARE s FROM 'SELEC'", "EXECUTE s", "SELECT id, FROM_UNIXTIME(id * 1000) FROM users ORDER BY id"},
			{"PREPARE s FROM 'SELEC'", "EXECUTE s", "SELECT id FROM users ORDER BY id"},
			{"CALL names_x()", "EXECUTE x", "SELECT id, FROM_UNIXTIME(id * 1000) FROM users ORDER BY id"},
			{"PREPARE s FROM 'SELECT 1'", "CALL names_s()", "EXECUTE s", "SELECT FOUND_ROWS()"},
			{"PREPARE s FROM 'SELECT FOUND_ROWS()'", "SELECT id FROM named", "DELETE FROM users ORDER BY id LIMIT 2", "EXECUTE s"},
			{"PREPARE s FROM 'SELECT FOUND_ROWS()'", "SELECT id FROM named", "INSERT INTO users (id) VALUES (901), (902), (903)", "EXECUTE s"},
			{"PREPARE s FROM 'SELECT ROW_COUNT()'", "SELECT id FROM named", "UPDATE users SET n = 5", "EXECUTE s"},
		} {
			clients := s.clients(t)
			for _, sql := range way {
				want, got := shownBy(t, clients[0], sql, false), shownBy(t, clients[1], sql, false)
				if strings.Contains(got, "9004") && strings.HasPrefix(sql, "EXECUTE") {
					break
				}
				if want != got {
					t.Errorf("%s\n%s:\n got %s\nwant %s", strings.Join(way, "; "), sql, got, want)
				}
			}
			for _, c := range clients {
				c.Close()
			}
		}
	})
}

// Variables that a server lists and sessions have not are found out, and the others are told all the same.
func TestVariablesThatSessionsLack(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			cfg := config.Default()
			cfg.Nodes = []config.Node{{Name: "n", User: "root", Password: "root", Master: mysqltest.Shared(t, kind).Addr}}
			nodes, err := backend.Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer nodes["n"].Close()
			conn, err := nodes["n"].Primary.DialContext(context.Background(), 0)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			var told []string
			lacking, err := conn.Variables([]string{"sql_mode", "max_connections", "time_zone", "nosuch", "autocommit"}, func(name, _, _ string) { told = append(told, name) })
			if err != nil || !slices.Equal(lacking, []string{"max_connections", "nosuch"}) || !slices.Equal(told, []string{"sql_mode", "time_zone", "autocommit"}) {
				t.Errorf("lacking %q, told %q, %v", lacking, told, err)
			}
			nodes["n"].Primary.Variables.Lacks(lacking)
			if has, known := nodes["n"].Primary.Variables.Has("max_connections"); has || !known {
				t.Error("it is asked for again")
			}
		})
	}
}
