package session_test

import (
	"fmt"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// toldSchema has ids beside the sharding key, which rows may bring: those of several users may be the same.
var toldSchema = strings.Replace(countedSchema, "id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, user_id INT NOT NULL, v VARCHAR(30)",
	"id INT AUTO_INCREMENT, user_id INT NOT NULL, v INT NOT NULL DEFAULT 0, PRIMARY KEY (user_id, id), KEY (id)", 1)

// Of rows of several shards some of which are left out or change others, the id that is told is that of the last row, or of the first whose id was
// drawn, as on one server. At the end of RETURNING there is none.
func TestIDToldOfSeveralRows(t *testing.T) {
	onShards(t, toldSchema, func(t *testing.T, s *shards) {
		mariaDB := strings.Contains(s.oracle.Greeting.ServerVersion, "MariaDB")
		for n, sql := range []string{
			"INSERT INTO orders (user_id, id) VALUES (1, 11), (2, 12), (3, 13), (4, 14)",
			"INSERT IGNORE INTO orders (user_id, id) VALUES (5, 20), (6, 15), (7, 22), (8, 17)", // the last row is not the one of the largest id
			"INSERT IGNORE INTO orders (user_id, id) VALUES (1, 31), (2, 12)",                   // it is left out
			"INSERT IGNORE INTO orders (user_id, id) VALUES (1, 11), (2, 12)",                   // all are
			"INSERT INTO orders (user_id, id) VALUES (1, 41), (2, 12) ON DUPLICATE KEY UPDATE v = v + 1",
			"INSERT INTO orders (user_id, id) VALUES (4, 14), (2, 35) ON DUPLICATE KEY UPDATE v = v + 1",
			"INSERT INTO orders (user_id, id) VALUES (1, DEFAULT), (2, 12) ON DUPLICATE KEY UPDATE v = v + 1", // the only id that is drawn
			"INSERT INTO orders (user_id, id) VALUES (2, 12), (3, NULL) ON DUPLICATE KEY UPDATE v = v + 1",
			"INSERT IGNORE INTO orders (user_id, id) VALUES (3, 0), (3, 13), (2, 12)",
			"SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'", "INSERT IGNORE INTO orders (user_id, id) VALUES (5, 50), (6, 0)", "INSERT IGNORE INTO orders (user_id, id) VALUES (7, 0), (5, 50)", "INSERT INTO orders (user_id, id) VALUES (6, 51), (7, 0) ON DUPLICATE KEY UPDATE v = v + 1",
			"INSERT INTO orders (user_id, id) VALUES (8, 52), (9, 0)", "SET sql_mode = DEFAULT",
			"!INSERT INTO orders (user_id) VALUES (3) RETURNING id, v", "!INSERT INTO orders (user_id, id) VALUES (3, 300) RETURNING id",
		} {
			sql, returning := strings.CutPrefix(sql, "!")
			if returning && !mariaDB {
				continue
			}
			want, got := must(t, s.oracle, sql), must(t, s.subject, sql)
			if w, g := toldWithID(want, sql)+fmt.Sprint(" at the end ", want.End.LastInsertID), toldWithID(got, sql)+fmt.Sprint(" at the end ", got.End.LastInsertID); w != g {
				t.Errorf("%s\n got %s\nwant %s", sql, g, w)
			}
			if w, g := must(t, s.oracle, "SELECT LAST_INSERT_ID()"), must(t, s.subject, "SELECT LAST_INSERT_ID()"); fmt.Sprintf("%s", w.Rows) != fmt.Sprintf("%s", g.Rows) {
				t.Errorf("%s: LAST_INSERT_ID() is %s, not %s", sql, g.Rows, w.Rows)
			}
			// What a server loses of ids beside ones that are brought is its own.
			for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
				must(t, c, fmt.Sprintf("INSERT INTO orders (user_id, id) VALUES (9, %d)", 1000*(n+1)))
			}
			if s.sameTables(t, sql, "orders"); t.Failed() {
				return
			}
		}
	})
}

// ON DUPLICATE KEY UPDATE of rows that bring their ids, each of which is new, changes or stays as it is, tells what one server does, wherever the rows lie. With
// CLIENT_FOUND_ROWS those that stay are counted.
func TestIDToldOfRowsThatStay(t *testing.T) {
	var cases []string // a letter a row: n is new, c changes, s stays
	for from, rows := 0, []string{""}; len(rows[from]) < 3; from++ {
		rows = append(rows, rows[from]+"n", rows[from]+"c", rows[from]+"s")
		cases = rows[1:]
	}
	onShards(t, toldSchema, func(t *testing.T, s *shards) {
		id := 1000
		for counted, clients := range map[bool][2]*mysqltest.RawClient{false: {s.oracle, s.subject}, true: s.clients(t)} {
			if clients[1].Conn.Capabilities.Has(mysql.ClientFoundRows) != counted {
				t.Fatalf("capabilities %v", clients[1].Conn.Capabilities)
			}
			for n, kinds := range cases {
				for _, form := range []string{"INSERT INTO %s ON DUPLICATE KEY UPDATE v = VALUES(v)", "INSERT INTO %s ON DUPLICATE KEY UPDATE id = VALUES(id), v = VALUES(v)", "INSERT IGNORE INTO %s ON DUPLICATE KEY UPDATE v = VALUES(v)"} {
					var there, rows []string
					for k, kind := range kinds {
						id++
						row := fmt.Sprintf("(%d, %d, ", (n+k)%5, id)
						switch kind {
						case 'c':
							there = append(there, row+"1)")
						case 's':
							there = append(there, row+"2)")
						}
						rows = append(rows, row+"2)")
					}
					sql := fmt.Sprintf(form, "orders (user_id, id, v) VALUES "+strings.Join(rows, ", "))
					var told [2]string
					for side, c := range clients {
						if there != nil {
							must(t, c, "INSERT INTO orders (user_id, id, v) VALUES "+strings.Join(there, ", "))
						}
						told[side] = toldWithID(must(t, c, sql), sql) + fmt.Sprintf(" LAST_INSERT_ID() %s", must(t, c, "SELECT LAST_INSERT_ID()").Rows)
					}
					if told[0] != told[1] {
						t.Errorf("CLIENT_FOUND_ROWS %v, %s: %s\n got %s\nwant %s", counted, kinds, sql, told[1], told[0])
					}
				}
			}
		}
		s.sameTables(t, "all", "orders")
	})
}

// A prepared INSERT without ids that has what the statement before leaves in its text, on the connection of a transaction where that is known to the
// server.
func TestDrawnIDsBesideFoundRows(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
			must(t, c, "INSERT INTO orders (id, user_id, v) VALUES (1, 3, 'x'), (2, 3, 'x')")
		}
		for _, values := range []string{"FOUND_ROWS()", "ROW_COUNT()", "CONCAT(FOUND_ROWS(), ' ', ROW_COUNT(), ' ', @@warning_count)"} {
			for _, ahead := range [][]string{{"SELECT 1", "BEGIN"}, {"BEGIN", "SELECT * FROM orders WHERE user_id = 3 FOR UPDATE"}, {"SELECT 1", "BEGIN", "UPDATE orders SET v = 'y' WHERE user_id = 3"}, {"SELECT 1"}} {
				sql := "INSERT INTO orders (user_id, v) VALUES (3, " + values + ")"
				for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
					for _, first := range ahead {
						must(t, c, first)
					}
					st, err := c.Prepare(sql)
					if err != nil {
						t.Fatal(err)
					}
					for range 2 {
						if r, err := st.Execute(); err != nil || r.Err != nil {
							t.Fatal(sql, err, r.Err)
						}
					}
					must(t, c, "COMMIT")
				}
				if s.sameTables(t, fmt.Sprint(ahead, sql), "orders"); t.Failed() {
					return
				}
			}
		}
	})
}

// A REPLACE whose ids are looked for ahead of it must not tell of that question.
func TestDrawnIDsOfReplaceBesideFoundRows(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
			must(t, c, "INSERT INTO orders (id, user_id, v) VALUES (1, 3, 'x'), (2, 3, 'x'), (3, 3, 'x')")
		}
		for _, ahead := range []string{"SELECT SQL_CALC_FOUND_ROWS id FROM orders WHERE user_id = 3 ORDER BY id LIMIT 1", "SELECT id FROM orders WHERE user_id = 3", "SELECT COUNT(*) FROM orders WHERE user_id = 3"} {
			const sql = "REPLACE INTO orders (user_id, v) VALUES (3, FOUND_ROWS())"
			for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
				must(t, c, "BEGIN")
				must(t, c, ahead)
			}
			r, err := s.subject.Query(sql)
			if err != nil {
				t.Fatal(err)
			}
			if refused := strings.Contains(ahead, "CALC"); refused != (r.Err != nil && r.Err.Code == 9012) {
				t.Errorf("behind %s: %v", ahead, r.Err)
			}
			if r.Err == nil {
				must(t, s.oracle, sql)
			}
			for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
				must(t, c, "COMMIT")
			}
			s.sameTables(t, ahead, "orders")
		}
	})
}

// An EXECUTE of a text that asks for ROW_COUNT() behind an INSERT whose id was drawn tells what one server does, or is refused: LAST_INSERT_ID() may have to be
// set ahead of it.
func TestExecutedRowCountBehindDrawnID(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		asked := 0
		for _, begin := range []string{"BEGIN", "SET autocommit = 0", "SELECT 1"} {
			for _, insert := range []string{"INSERT INTO orders (user_id) VALUES (1)", "INSERT INTO orders (user_id, id) VALUES (1, NULL), (1, NULL)", "INSERT INTO users (name) VALUES ('x')"} {
				s.everywhere(t, "PREPARE p FROM 'SELECT LAST_INSERT_ID(), ROW_COUNT()'")
				s.everywhere(t, begin)
				if r, err := s.subject.Query(insert); err != nil || r.Err != nil && r.Err.Code != 9004 {
					t.Fatalf("%s: %+v, %v", insert, r, err)
				} else if r.Err != nil { // of another node than the transaction
					s.everywhere(t, "ROLLBACK")
					s.everywhere(t, "SET autocommit = 1")
					continue
				}
				must(t, s.oracle, insert)
				want := must(t, s.oracle, "EXECUTE p")
				got, err := s.subject.Query("EXECUTE p")
				asked++
				if err != nil || got.Err != nil && got.Err.Code != 9004 || got.Err == nil && fmt.Sprintf("%s", got.Rows) != fmt.Sprintf("%s", want.Rows) {
					t.Errorf("%s, %s: %s %v, %v, want %s", begin, insert, got.Rows, got.Err, err, want.Rows)
				}
				s.everywhere(t, "ROLLBACK")
				s.everywhere(t, "SET autocommit = 1")
				s.everywhere(t, "DEALLOCATE PREPARE p")
			}
		}
		if asked < 3 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// A row that is there and gets the drawn id by ON DUPLICATE KEY UPDATE is not a new one: LAST_INSERT_ID() stays.
func TestDrawnIDOfARowThatWasThere(t *testing.T) {
	schema := strings.Replace(toldSchema, "PRIMARY KEY (user_id, id), KEY (id)", "PRIMARY KEY (user_id, v), KEY (id)", 1)
	onShards(t, schema, func(t *testing.T, s *shards) {
		for _, sql := range []string{
			"INSERT INTO orders (user_id, v) VALUES (1, 5)", "SELECT LAST_INSERT_ID(100)",
			"INSERT INTO orders (user_id, v) VALUES (1, 5) ON DUPLICATE KEY UPDATE id = VALUES(id)",
			"INSERT IGNORE INTO orders (user_id, v) VALUES (1, 5) ON DUPLICATE KEY UPDATE id = VALUES(id)",
			"!INSERT INTO orders (user_id, v) VALUES (1, 5) ON DUPLICATE KEY UPDATE v = v RETURNING v", "!INSERT IGNORE INTO orders (user_id, v) VALUES (1, 5) RETURNING v",
			"INSERT INTO orders (user_id, v) VALUES (2, 6) ON DUPLICATE KEY UPDATE id = VALUES(id)", "!INSERT INTO orders (user_id, v) VALUES (3, 6) ON DUPLICATE KEY UPDATE v = v RETURNING v",
		} {
			sql, returning := strings.CutPrefix(sql, "!")
			if returning && !strings.Contains(s.oracle.Greeting.ServerVersion, "MariaDB") {
				continue
			}
			for _, c := range []*mysqltest.RawClient{s.oracle, s.subject} {
				must(t, c, sql)
			}
			if w, g := must(t, s.oracle, "SELECT LAST_INSERT_ID()"), must(t, s.subject, "SELECT LAST_INSERT_ID()"); fmt.Sprintf("%s", w.Rows) != fmt.Sprintf("%s", g.Rows) {
				t.Errorf("%s: LAST_INSERT_ID() is %s, not %s", sql, g.Rows, w.Rows)
			}
		}
		s.sameTables(t, "the ids", "orders")
	})
}
