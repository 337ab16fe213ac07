package session_test

import (
	"fmt"
	"strings"
	"testing"
)

// Lines that leave their ids to the table get those that one server gives them.
func TestLoadDataDrawsIDs(t *testing.T) {
	onShards(t, countedSchema, func(t *testing.T, s *shards) {
		for k, c := range []struct{ table, options, file string }{
			{"orders", "(user_id, v)", "5\ta\n6\tb\n7\tc\n-8\td"},
			{"orders", "(id, user_id, v)", "\\N\t5\ta\n0\t6\tb\n11000\t7\tc\n\\N\t-8\td\n"},
			{"orders", "", "\\N\t1\tx\n13000\t2\ty\n00\t3\tz\n"},
			{"orders", "(user_id)", "1\tmore\n2\n3\n"},
			{"orders", "(user_id, @x) SET v = CONCAT(@x, '!')", "9\tq\n8\tr\n"},
			{"orders", "FIELDS TERMINATED BY ',' ENCLOSED BY '\"' LINES STARTING BY '>' TERMINATED BY '\\r\\n' IGNORE 1 LINES (user_id, v)", "head>\r\nx>\"4\",\"a\r\n\"\"b\"\r\nno\r\n>5,\"c\"\r\n"},
			{"orders", "FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' (v, id, user_id)", "\"x\",NULL,4\n\"y\",\"0\",5\n\"z\",\"21000\",6\n\"w\",\\N,7\n"},
			{"orders", "FIELDS TERMINATED BY ',' LINES TERMINATED BY '' (user_id, v)", "1,a,2,b,3,c"},
			{"orders", "FIELDS TERMINATED BY '||' ( user_id , v )", "1||a\n2||b\n"},
			{"orders", "CHARACTER SET latin1 (user_id, v)", "1\t\xe9\n2\t\xfc\n"},
			{"users", "(name)", "ada\ngrace\nalan\n"},
			{"users", "(n, name, id)", "1\tw\t\\N\n2\tx\t0\n3\ty\t31000\n4\tz\t\\N\n"},
			{"users", "", "\\N\tone\t1\n0\ttwo\t2\n33000\tthree\t3\n\\N\tfour\t4\n"},
			{"users", "(n)", ""},
			{"users", "(n)", "x\n"},
			{"orders", "(id, user_id)", "39000\t1\n39001\t2\n"},
			{"orders", "(user_id, v)", strings.Repeat("17\tseventeen\n18\teighteen\n", 400)},
		} {
			sql := "LOAD DATA LOCAL INFILE 'f' INTO TABLE " + c.table + " " + c.options
			want, got := load(t, s.oracle, sql, c.file), load(t, s.subject, sql, c.file)
			if w, g := toldWithID(want, sql), toldWithID(got, sql); w != g || want.Warnings != got.Warnings {
				t.Errorf("%s, %.200q\n got %s, %d warnings, %v\nwant %s, %d warnings", sql, c.file, g, got.Warnings, got.Err, w, want.Warnings)
			}
			s.sameTables(t, sql, c.table)
			s.both(t, "SELECT LAST_INSERT_ID()", "")
			// InnoDB reserves more ids than a file has lines.
			s.everywhere(t, fmt.Sprintf("INSERT INTO %s (id, user_id) VALUES (%d, 1)", "orders", 10_000+2000*k))
			s.everywhere(t, fmt.Sprintf("INSERT INTO %s (id, n) VALUES (%d, 1)", "users", 10_000+2000*k))
			s.both(t, fmt.Sprintf("INSERT INTO %s (%s) VALUES (1), (2)", c.table, map[string]string{"users": "n", "orders": "user_id"}[c.table]), "", c.table)
			s.both(t, "SELECT LAST_INSERT_ID()", "")
		}
		s.everywhere(t, "SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
		s.both(t, "LOAD DATA LOCAL INFILE 'f' INTO TABLE users (id, name)", "0\tzero\n\\N\tnull\n", "users")
		s.everywhere(t, "INSERT INTO users (id) VALUES (90000)")
		s.everywhere(t, "SET auto_increment_increment = 10, auto_increment_offset = 3")
		s.both(t, "LOAD DATA LOCAL INFILE 'f' INTO TABLE users (name)", "spaced\nout\n", "users")
		for _, c := range []struct{ options, file, reason string }{
			{"REPLACE INTO TABLE users (name)", "a\n", "REPLACE"},
			{"REPLACE INTO TABLE users (id, name)", "\\N\ta\n", "REPLACE"},
			{"INTO TABLE users (name, id)", "a\n", "ends ahead of it"},
			{"INTO TABLE users (name, id)", "a\tx\n", "must be given a whole number"},
			{"INTO TABLE users (name, id)", "a\t-1\n", "must be given a whole number"},
			{"INTO TABLE users (name) SET id = 5", "a\n", "not from SET"},
			{"INTO TABLE orders (user_id) SET id = 5", "1\n", "not by SET"},
			{"INTO TABLE users FIELDS TERMINATED BY '' ENCLOSED BY '\"' (name)", "\"a\"\n", "TERMINATED BY"},
		} {
			r := load(t, s.subject, "LOAD DATA LOCAL INFILE 'f' "+c.options, c.file)
			if r.Err == nil || r.Err.Code != 9012 || !strings.Contains(r.Err.Message, c.reason) {
				t.Errorf("%s, %q: %v, want %s", c.options, c.file, r.Err, c.reason)
			}
		}
	})
}
