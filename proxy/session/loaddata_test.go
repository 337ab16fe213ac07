package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// loadSchema are tables of the shapes' rules with columns that files can go wrong in.
const loadSchema = `
CREATE TABLE users (id INT PRIMARY KEY, name VARCHAR(20) UNIQUE, note TEXT, n INT NOT NULL DEFAULT 7, d DATE, twice INT AS (n * 2) STORED)
CREATE TABLE orders (id INT AUTO_INCREMENT PRIMARY KEY, user_id SMALLINT NOT NULL, amount DECIMAL(6,2), at TIMESTAMP NOT NULL DEFAULT '2024-01-01 00:00:00')
CREATE TABLE order_items (user_id INT, v VARCHAR(30) CHARACTER SET latin1)
CREATE TABLE payments (merchant_id VARCHAR(8), v VARCHAR(30))
CREATE TABLE countries (code CHAR(2) PRIMARY KEY, name VARCHAR(40))`

// load runs a statement that may ask for a file.
func load(t *testing.T, c *mysqltest.RawClient, sql, file string) *mysqltest.RawResult {
	t.Helper()
	r, err := c.Query(sql)
	if err == nil && r.LocalInfile != "" {
		r, err = c.SendFile([]byte(file))
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r
}

// both runs a statement on one server and through the proxy and compares answers and tables.
func (s *shards) both(t *testing.T, sql, file string, tables ...string) {
	t.Helper()
	want, got := load(t, s.oracle, sql, file), load(t, s.subject, sql, file)
	w, g := shownAnswer(want, sql, false), shownAnswer(got, sql, false)
	if w != g || want.Warnings != got.Warnings {
		t.Errorf("%s, %.200q\n got %s, %d warnings\nwant %s, %d warnings", sql, file, g, got.Warnings, w, want.Warnings)
		if got.Err != nil {
			t.Log(got.Err)
		}
	}
	s.sameTables(t, sql, tables...)
}

// sameTables compares what tables hold.
func (s *shards) sameTables(t *testing.T, after string, tables ...string) {
	t.Helper()
	for _, table := range tables {
		check := "SELECT * FROM " + table
		if w, g := shownAnswer(must(t, s.oracle, check), check, false), shownAnswer(must(t, s.subject, check), check, false); w != g {
			t.Errorf("%s, then %s\n got %s\nwant %s", after, check, g, w)
		}
	}
}

// everywhere runs a statement on both sides.
func (s *shards) everywhere(t *testing.T, sql string) {
	t.Helper()
	must(t, s.oracle, sql)
	must(t, s.subject, sql)
}

func TestLoadData(t *testing.T) {
	onShards(t, loadSchema, func(t *testing.T, s *shards) {
		csv := " FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n'"
		for _, c := range []struct{ table, options, file string }{
			{"users", "(id, name, note)", "1\ta\tx\n2\tb\t\\N\n3\tc\tline\\\nbreak\\t\n4\td\n"},
			{"users", "(id, name, note) SET n = 5, d = '2024-05-06'", "1\ta\tx\n5\tz\ty\n"},
			{"users", "(name, id, @n, @skipped) SET n = @n + 1, note = CONCAT(users.name, '!')", "q\t11\t4\tx\tmore\nr\t12\t5\n"},
			{"users", csv + " IGNORE 2 LINES (id, name, note, n)", "id,name\r\n\"h\r\n21,\"o\"\"n,e\",\"a\r\nb\",3\r\n22,two,NULL,x\r\n"},
			{"users", "", "31\tx\tnote\t1\t2024-01-01\t9\n32\ty\tnote\t2\t2024-13-01\t9\n"},
			{"users", "FIELDS TERMINATED BY '|' ENCLOSED BY '\"' ESCAPED BY '\"' LINES STARTING BY '>' (id, name)", "junk>41|\"a\"\"b\"\nno line\n>42|\"c\\\"\nrest"},
			{"users", "FIELDS TERMINATED BY ',' LINES TERMINATED BY '' (id, name)", "51,f,52,g,53,h"},
			{"users", "CHARACTER SET latin1 (id, name)", "61\t\xe9\xe8\n62\t\xfc\n"},
			{"users", "CHARACTER SET binary (id, name)", "63\té\n64\tplain\n"},
			{"users", "(id, name)", "71\té\n72\tдом\n73\t😀\n"},
			{"users", "(id, name)", ""},
			{"users", "(id, name, n)", " 81 \tspaces\t5\n+82\tplus\t9\n0083\tzeros\t-1\n-84\tminus\t99999999999\n"},
			{"orders", "(id, user_id, amount)", "1\t5\t1.005\n2\t6\t2\n3\t-7\tx\n1\t5\t9\n"},
			{"order_items", "CHARACTER SET utf8mb4", "1\té\n1\tдом\n3\tlonger than thirty characters it is\n"},
			{"payments", "", "ab\tx\ncd\ty\n7\tz\n"},
			{"countries", "FIELDS TERMINATED BY ','", "DE,Germany\nFR,France\nDE,again\nXYZ,long\n"},
		} {
			for _, duplicate := range []string{"", "IGNORE", "REPLACE"} {
				s.everywhere(t, "SET @n = NULL, @skipped = NULL")
				sql := "LOAD DATA LOCAL INFILE 'f' " + duplicate + " INTO TABLE " + c.table + " " + c.options
				s.both(t, sql, c.file, c.table)
				if duplicate != "REPLACE" { // an error leaves what was read so far
					// NULL has the character set of what the variable was before on its connection, which may be another one's.
					const look = "SELECT HEX(@n), IF(@n IS NULL, NULL, CHARSET(@n)), @skipped"
					if w, g := must(t, s.oracle, look), must(t, s.subject, look); fmt.Sprint(w.Rows) != fmt.Sprint(g.Rows) {
						t.Errorf("%s: variables %v, not %v", sql, g.Rows, w.Rows)
					}
				}
			}
		}
		// No connection that others may get has the variables.
		other := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root"})
		for _, hint := range []string{"/*n0*/", "/*n1*/"} {
			for range 4 {
				if r := must(t, other, "SELECT "+hint+" @n, @skipped"); r.Rows[0][0] != nil || r.Rows[0][1] != nil {
					t.Errorf("%s: another client's variables: %v", hint, r.Rows)
				}
			}
		}
		s.everywhere(t, "DELETE FROM users")
		var big strings.Builder
		r := rand.New(rand.NewPCG(1, 2))
		for k := range 30_000 {
			fmt.Fprintf(&big, "%d\t%d\t%s\n", k, r.IntN(1<<30), strings.Repeat("v", r.IntN(60)))
		}
		s.both(t, "LOAD DATA LOCAL INFILE 'f' INTO TABLE users (id, name, note)", big.String(), "users")
		s.both(t, "LOAD DATA LOCAL INFILE 'f' REPLACE INTO TABLE users (id, name, note)", big.String())
		if t.Failed() {
			return
		}
		// Rows are on the shards of their keys.
		s.both(t, "SELECT id, name FROM users WHERE id IN (1, 4, 17, 29999) ORDER BY id", "")
		for k := range 8 {
			s.both(t, fmt.Sprintf("SELECT id, name FROM users WHERE id = %d", 1000+k), "")
		}
	})
}

// A file that cannot be split goes wrong before anything is kept, and the client may go on.
func TestLoadDataRefused(t *testing.T) {
	onShards(t, loadSchema, func(t *testing.T, s *shards) {
		const into = "LOAD DATA LOCAL INFILE 'f' INTO TABLE "
		for _, c := range []struct {
			options, file, reason string
			asked                 bool // the reason is in the file
		}{
			{"users (name)", "", "sharding key", false},
			{"users (@id, name) SET id = @id", "", "SET", false},
			{"users (id) SET name = (SELECT 1)", "", "subquery", false},
			{"users (id, name) SET n = @x := @x + 1", "", "variable", false},
			{"orders (user_id, id) SET id = 3", "", "AUTO_INCREMENT", false},
			{"countries SET name = RAND()", "", "same on each", false},
			{"users FIELDS TERMINATED BY '' ENCLOSED BY ''", "", "fixed width", false},
			{"users FIELDS TERMINATED BY '§'", "", "ASCII", false},
			{"users FIELDS ENCLOSED BY '||'", "", "one character", false},
			{"users LINES TERMINATED BY '' IGNORE 1 LINES", "", "without lines", false},
			{"users CHARACTER SET gbk", "", "gbk", false},
			{"users (id, name)", "1\ta\n\\N\tb\n", "line 2 of the file: users: the sharding key must not be NULL", true},
			{"users IGNORE 1 LINES (name, id)", "x\n1\t2\na\n", "line 3 of the file: users: the sharding key must not be NULL", true},
			{"users (id, name)", "1\ta\n2x\tb\n", "line 2 of the file: users: sharding key \"2x\"", true},
			{"users (id, name)", "1\ta\n2147483648\tb\n", "line 2 of the file: users: sharding key \"2147483648\": does not fit its column", true},
			{"orders (id, user_id)", "1\t-32768\n2\t-32769\n", "line 2 of the file: orders: sharding key \"-32769\": does not fit its column", true},
			{"orders (id, user_id)", "1\t5\nx\t6\n", "line 2 of the file: AUTO_INCREMENT", true},
			{"payments", "a\tb\nnine char\tx\n", "line 2 of the file: payments: sharding key \"nine char\": does not fit its column", true},
			{"payments CHARACTER SET latin1", "a\tb\n\xe9\tx\n", "line 2 of the file: payments: sharding key \"\\xe9\": has characters", true},
			{"payments CHARACTER SET utf8mb4", "a\tb\n\xe9\tx\n", "line 2 of the file: payments: sharding key \"\\xe9\": has characters", true},
			{"users CHARACTER SET utf8mb4 (id)", "1\n2\ta\xe9\n", "line 2 of the file: bytes that are not UTF-8", true},
			{"users (id, name)", "1\ta\n2\t" + strings.Repeat("x", 2<<20), "line 2 of the file: it is longer", true},
		} {
			for range 2 {
				r, err := s.subject.Query(into + c.options)
				if err != nil {
					t.Fatal(err)
				}
				if c.asked != (r.LocalInfile != "") {
					t.Errorf("%s: asked %v, %v", c.options, r.LocalInfile != "", r.Err)
				}
				if r.LocalInfile != "" {
					if r, err = s.subject.SendFile([]byte(c.file)); err != nil {
						t.Fatal(err)
					}
				}
				if r.Err == nil || r.Err.Code != 9012 || !strings.Contains(r.Err.Message, c.reason) {
					t.Errorf("%s: %v, want %s", c.options, r.Err, c.reason)
				}
			}
			table := strings.Fields(c.options)[0]
			if r := must(t, s.subject, "SELECT COUNT(*) FROM "+table); r.Rows[0][0] != "0" {
				t.Errorf("%s: %v rows are there", c.options, r.Rows[0][0])
			}
		}
		fails(t, s.subject, "LOAD DATA INFILE '/etc/hosts' INTO TABLE users", 9012)
		fails(t, s.subject, "LOAD XML LOCAL INFILE 'f' INTO TABLE users", 9013)
	})
}

// An error of one server takes back what all have loaded.
func TestLoadDataError(t *testing.T) {
	onShards(t, loadSchema, func(t *testing.T, s *shards) {
		s.everywhere(t, "INSERT INTO users (id, name) VALUES (1, 'kept'), (2, 'kept too')")
		for _, c := range []struct {
			options, file string
			code          uint16
		}{
			{"REPLACE INTO TABLE users (id, n)", "1\t5\n3\t6\n4\tx\n5\t5\n6\t6\n", 1366},
			{"INTO TABLE users (id, nosuch)", "1\t5\n", 1054},
			{"INTO TABLE users (id) SET name = nosuch(1)", "1\n", 1305},
		} {
			sql := "LOAD DATA LOCAL INFILE 'f' " + c.options
			want, got := load(t, s.oracle, sql, c.file), load(t, s.subject, sql, c.file)
			if got.Err == nil || want.Err == nil || got.Err.Code != want.Err.Code || strings.Contains(got.Err.Message, "users_0") {
				t.Errorf("%s: %v, not %v", sql, got.Err, want.Err)
			}
			s.sameTables(t, sql, "users")
		}
		for _, node := range s.nodes {
			must(t, node, "SET GLOBAL local_infile = OFF")
		}
		r, err := s.subject.Query("LOAD DATA LOCAL INFILE 'f' INTO TABLE users")
		if err != nil || r.Err == nil || r.Err.Code > 9000 {
			t.Errorf("servers without local_infile: %v, %v", r.Err, err)
		}
		for _, node := range s.nodes {
			must(t, node, "SET GLOBAL local_infile = ON")
		}
		s.sameTables(t, "", "users")
	})
}

func TestLoadDataInTransaction(t *testing.T) {
	onShards(t, loadSchema, func(t *testing.T, s *shards) {
		const sql = "LOAD DATA LOCAL INFILE 'f' INTO TABLE users (id, name)"
		// users_0000 and, with two sub-tables, users_0001 are on the first node: ids 0, 4, 8 and 1, 5, 9 of four.
		file, other := "4\ta\n8\tb\n12\tc\n", "16\td\n3\te\n"
		must(t, s.subject, "BEGIN")
		if r := load(t, s.subject, sql, file); r.Err == nil || r.Err.Code != 9004 {
			t.Errorf("the first statement of a transaction: %v", r.Err)
		}
		must(t, s.subject, "INSERT INTO users (id) VALUES (100)")
		if r := load(t, s.subject, sql, file); r.Err != nil || r.OK.AffectedRows != 3 || !r.Status.Has(mysql.ServerStatusInTrans) {
			t.Errorf("%+v", r)
		}
		if r := load(t, s.subject, sql, other); r.Err == nil || r.Err.Code != 9004 || !strings.Contains(r.Err.Message, "line 2") {
			t.Errorf("a line of another node: %v", r.Err)
		}
		if r := must(t, s.subject, "SELECT COUNT(*) FROM users WHERE id IN (4, 8, 12, 16, 100)"); r.Rows[0][0] != "4" {
			t.Errorf("%v rows", r.Rows[0][0])
		}
		must(t, s.subject, "ROLLBACK")
		if r := must(t, s.subject, "SELECT COUNT(*) FROM users"); r.Rows[0][0] != "0" {
			t.Errorf("%v rows after ROLLBACK", r.Rows[0][0])
		}
		must(t, s.subject, "SET autocommit = 0")
		must(t, s.subject, "INSERT INTO users (id) VALUES (100)")
		if r := load(t, s.subject, sql, file); r.Err != nil {
			t.Error(r.Err)
		}
		must(t, s.subject, "COMMIT")
		must(t, s.subject, "SET autocommit = 1")
		if r := must(t, s.subject, "SELECT COUNT(*) FROM users"); r.Rows[0][0] != "4" {
			t.Errorf("%v rows after COMMIT", r.Rows[0][0])
		}
	})
}

// A client that goes away in the middle of its file has loaded nothing.
func TestLoadDataCutOff(t *testing.T) {
	onShards(t, loadSchema, func(t *testing.T, s *shards) {
		r, err := s.subject.Query("LOAD DATA LOCAL INFILE 'f' INTO TABLE users (id, name)")
		if err != nil || r.LocalInfile != "f" {
			t.Fatal(r, err)
		}
		var lines strings.Builder
		for k := range 50_000 {
			fmt.Fprintf(&lines, "%d\tname%d\n", k, k)
		}
		s.subject.Conn.WritePacket([]byte(lines.String()[:700_000]))
		if err := s.subject.Conn.Flush(); err != nil {
			t.Fatal(err)
		}
		s.subject.Conn.Close()
		for _, node := range s.nodes {
			for _, row := range must(t, node, "SHOW TABLES LIKE 'users%'").Rows {
				if r := must(t, node, "SELECT COUNT(*) FROM "+row[0].(string)+" FOR UPDATE"); r.Rows[0][0] != "0" {
					t.Errorf("%v has %v rows", row[0], r.Rows[0][0])
				}
			}
		}
	})
}

// The statement behind a LOAD DATA in one text is not in the way of the file.
func TestLoadDataAmongOthers(t *testing.T) {
	onShards(t, loadSchema, func(t *testing.T, s *shards) {
		for _, table := range []string{"users", "sku"} {
			s.everywhere(t, "CREATE TABLE IF NOT EXISTS sku (id INT, name VARCHAR(10))")
			r, err := s.subject.Query("LOAD DATA LOCAL INFILE 'f' INTO TABLE " + table + " (id, name); SELECT 'behind it'")
			if err != nil || r.LocalInfile != "f" {
				t.Fatal(r, err)
			}
			if r, err = s.subject.SendFile([]byte(strings.Repeat("1\tx\n", 2000))); err != nil || r.Err != nil || r.Next == nil || r.Next.Err != nil || r.Next.Rows[0][0] != "behind it" {
				t.Fatalf("%s: %+v, %v", table, r, err)
			}
		}
	})
}

// Random files in random formats: the proxy cuts lines where servers do.
func TestLoadDataFormats(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	onShards(t, loadSchema, func(t *testing.T, s *shards) {
		r := rand.New(rand.NewPCG(seed, 3))
		pick := func(list ...string) string { return list[r.IntN(len(list))] }
		literal := func(v string) string { return fmt.Sprintf("x'%x'", v) }
		for range 120 {
			fields, lines := pick(",", ",", "\t", "||", ",x"), pick("\n", "\n", "\r\n", "xy", ",,", "|;")
			enclosed, escaped, starting := pick("", "'", "\"", "\""), pick("\\", "\\", "", "'", "\"", "#"), pick("", "", "", ">", ">>x")
			special := []string{fields, lines, enclosed, escaped, starting, "a", "b", "\\N", "NULL", "é", "7", fields, lines}
			var file strings.Builder
			for k := range 12 {
				file.WriteString(pick(starting, starting, "junk"+starting))
				fmt.Fprintf(&file, "%d", k)
				for range r.IntN(4) {
					file.WriteString(fields)
					quoted := r.IntN(2) == 0
					if quoted {
						file.WriteString(enclosed)
					}
					for range r.IntN(4) {
						file.WriteString(pick(special...))
					}
					if quoted {
						file.WriteString(enclosed)
					}
				}
				file.WriteString(lines)
			}
			s.everywhere(t, "DELETE FROM order_items")
			sql := "LOAD DATA LOCAL INFILE 'f' INTO TABLE order_items CHARACTER SET utf8mb4 FIELDS TERMINATED BY " + literal(fields) + " ENCLOSED BY " + literal(enclosed) +
				" ESCAPED BY " + literal(escaped) + " LINES STARTING BY " + literal(starting) + " TERMINATED BY " + literal(lines) + pick("", " IGNORE 1 LINES", " IGNORE 3 LINES") + pick("", " (user_id, v)", " (@v, user_id, v)")
			got := load(t, s.subject, sql, file.String())
			if got.Err != nil {
				if got.Err.Code != 9012 || !strings.HasPrefix(got.Err.Message, "line ") {
					t.Fatalf("%s: %v", sql, got.Err)
				}
				if r := must(t, s.subject, "SELECT COUNT(*) FROM order_items"); r.Rows[0][0] != "0" {
					t.Fatalf("%s: %v rows stay after %v", sql, r.Rows[0][0], got.Err)
				}
				continue
			}
			if want := load(t, s.oracle, sql, file.String()); shownAnswer(want, "", false) != shownAnswer(got, "", false) || want.Warnings != got.Warnings {
				t.Errorf("%s, %q\n got %s\nwant %s", sql, file.String(), shownAnswer(got, "", false), shownAnswer(want, "", false))
			}
			s.sameTables(t, sql+" of "+fmt.Sprintf("%q", file.String()), "order_items")
			if t.Failed() {
				return
			}
		}
	})
}
