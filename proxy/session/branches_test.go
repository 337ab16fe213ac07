package session_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// Transactions of a client that change rows of several nodes are what one server makes of them: answers, savepoints, errors in the middle, what ends them.
func TestTransactionsOverNodes(t *testing.T) {
	onAtomicShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		for _, script := range [][]string{
			{"BEGIN", "UPDATE users SET n = 100 WHERE id = 1", "UPDATE users SET n = 100 WHERE id = 2", "UPDATE users SET n = 100 WHERE id = 3", "COMMIT"},
			{"BEGIN", "UPDATE users SET n = 101 WHERE id = 1", "UPDATE users SET n = 101 WHERE id = 2", "UPDATE users SET n = 101 WHERE id = 3", "ROLLBACK"},
			{"BEGIN", "SELECT COUNT(*) FROM users", "UPDATE users SET n = 102 WHERE id = 2", "SELECT SUM(n) FROM users", "COMMIT", "SELECT SUM(n) FROM users"},
			{"START TRANSACTION READ WRITE", "INSERT INTO users (id, n) VALUES (50, 1), (51, 2), (52, 3), (53, 4)", "DELETE FROM users WHERE id IN (50, 53)", "COMMIT WORK"},
			{"BEGIN", "UPDATE users SET n = 1 WHERE id = 1", "SAVEPOINT a", "UPDATE users SET n = 2 WHERE id < 5", "SAVEPOINT `b c`", "DELETE FROM users WHERE id < 8", "ROLLBACK TO SAVEPOINT `b c`",
				"SELECT id, n FROM users WHERE id < 9 ORDER BY id", "ROLLBACK TO a", "SELECT id, n FROM users WHERE id < 9 ORDER BY id", "ROLLBACK TO `b c`", "RELEASE SAVEPOINT a", "ROLLBACK TO a", "COMMIT"},
			{"BEGIN", "INSERT INTO users (id, n) VALUES (60, 1)", "INSERT INTO users (id, n) VALUES (61, 1), (62, 1), (63, 1), (60, 2)", "SELECT id, n FROM users WHERE id >= 60 ORDER BY id", "COMMIT"},
			{"BEGIN", "UPDATE users SET n = n + 1", "UPDATE users SET n = 'x'", "UPDATE users SET n = n + 1 ORDER BY id LIMIT 7", "ROLLBACK AND CHAIN", "UPDATE users SET n = 9 WHERE id IN (1, 2, 3)", "COMMIT AND CHAIN",
				"UPDATE users SET n = 10 WHERE id IN (1, 2, 3)", "ROLLBACK", "SELECT n FROM users WHERE id IN (1, 2, 3) ORDER BY id"},
			{"SET autocommit = 0", "UPDATE users SET n = 20 WHERE id = 1", "UPDATE users SET n = 20 WHERE id = 2", "UPDATE users SET n = 20 WHERE id = 3", "SET autocommit = 1", "ROLLBACK", "SELECT n FROM users WHERE id < 4 ORDER BY id"},
			{"SET autocommit = 0", "SELECT 1", "UPDATE users SET n = 21 WHERE id = 1", "SELECT 1", "UPDATE users SET n = 21 WHERE id = 2", "ROLLBACK", "SELECT n FROM users WHERE id < 4 ORDER BY id", "COMMIT", "SET autocommit = 1"},
			{"BEGIN", "UPDATE users SET n = 30 WHERE id IN (1, 2, 3)", "BEGIN", "UPDATE users SET n = 31 WHERE id IN (1, 2, 3)", "ROLLBACK", "SELECT n FROM users WHERE id < 4 ORDER BY id"},
			{"BEGIN", "UPDATE users SET n = 32 WHERE id IN (1, 2, 3)", "FLUSH TABLES", "ROLLBACK", "SELECT n FROM users WHERE id < 4 ORDER BY id"},
			{"BEGIN", "UPDATE users SET n = 33 WHERE id IN (1, 2, 3)", "ALTER TABLE order_items COMMENT 'x'", "ROLLBACK", "SELECT n FROM users WHERE id < 4 ORDER BY id"},
			{"START TRANSACTION READ ONLY", "SELECT COUNT(*) FROM users", "UPDATE users SET n = 1 WHERE id = 1", "UPDATE users SET n = 1 WHERE id = 2", "UPDATE users SET n = 1 WHERE id = 3", "COMMIT"},
			{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", "UPDATE users SET n = 40 WHERE id = 1", "UPDATE users SET n = 40 WHERE id = 2", "UPDATE users SET n = 40 WHERE id = 3", "COMMIT AND CHAIN", "SELECT n FROM users WHERE id < 4 ORDER BY id", "ROLLBACK"},
			{"BEGIN", "SELECT id FROM users WHERE id < 9 ORDER BY id FOR UPDATE", "UPDATE users SET n = 41 WHERE id = 1", "UPDATE users SET n = 41 WHERE id = 2", "COMMIT"},
			{"BEGIN", "INSERT INTO countries VALUES ('FR', 'France')", "UPDATE users SET n = 42 WHERE id = 1", "UPDATE countries SET name = UPPER(name)", "ROLLBACK", "SELECT * FROM countries ORDER BY code"},
			{"SET completion_type = 'CHAIN'", "BEGIN", "UPDATE users SET n = 43 WHERE id IN (1, 2, 3)", "COMMIT", "UPDATE users SET n = 44 WHERE id IN (1, 2, 3)", "ROLLBACK AND NO CHAIN", "SET completion_type = DEFAULT"},
			{"SET timestamp = 1600000000", "BEGIN", "UPDATE users SET d = NOW() WHERE id = 1", "UPDATE users SET d = NOW() WHERE id = 2", "UPDATE users SET d = NOW() WHERE id = 3", "COMMIT", "SELECT NOW()",
				"UPDATE users SET d = NOW() WHERE id < 5", "SET timestamp = DEFAULT"},
			{"BEGIN", "LOAD DATA LOCAL INFILE 'x' INTO TABLE users (id, name, n)", "SELECT COUNT(*) FROM users", "ROLLBACK"},
			{"BEGIN", "UPDATE users SET n = 45 WHERE id = 1", "UPDATE users SET n = 45 WHERE id = 2", "SET @a = 1", "UPDATE users SET n = 46 WHERE id = 1", "USE shop", "UPDATE users SET n = 46 WHERE id = 3", "ROLLBACK"},
		} {
			for _, sql := range script {
				data := ""
				if strings.HasPrefix(sql, "LOAD") {
					data = "100\tloaded\t1\n101\tloaded\t2\n102\tloaded\t3\n"
				}
				s.inStep(t, sql, data)
			}
			s.sameTables(t, strings.Join(script, "; "), "users", "countries")
		}
		s.nothingPrepared(t)
	})
}

// inStep runs a statement on both sides and compares the answers, and whether a transaction is open.
func (s *shards) inStep(t *testing.T, sql, file string) {
	t.Helper()
	want, got := load(t, s.oracle, sql, file), load(t, s.subject, sql, file)
	w, g := shownAnswer(want, sql, false), shownAnswer(got, sql, false)
	if w != g || want.Warnings != got.Warnings || want.Err == nil && want.Status&mysql.ServerStatusInTrans != got.Status&mysql.ServerStatusInTrans {
		t.Errorf("%s\n got %s, %d warnings, status %v\nwant %s, %d warnings, status %v", sql, g, got.Warnings, got.Status, w, want.Warnings, want.Status)
		if got.Err != nil {
			t.Log(got.Err)
		}
	}
}

// nothingPrepared checks that no transaction is left on the nodes.
func (s *shards) nothingPrepared(t *testing.T) {
	t.Helper()
	for _, n := range s.nodes {
		if rows := must(t, n, "XA RECOVER").Rows; len(rows) > 0 {
			t.Errorf("prepared: %v", rows)
		}
	}
}

// Two transactions wait for each other's rows on two nodes, which no server sees: one of them is told so, and is undone on both.
func TestDeadlockOverNodes(t *testing.T) {
	onAtomicShardsOf(t, true, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		one, other := s.onTwoNodes(t)
		a, b := s.subject, dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		update := func(id string, n int) string { return fmt.Sprintf("UPDATE users SET n = %d WHERE id = %s", n, id) }
		for round := range 3 {
			n := 1000 * (round + 1)
			for c, id := range map[*mysqltest.RawClient]string{a: one, b: other} {
				must(t, c, "BEGIN")
				must(t, c, update(id, n))
			}
			answers := make(chan *mysqltest.RawResult, 1)
			go func() {
				r, err := a.Query(update(other, n+1))
				if err != nil {
					t.Error(err)
				}
				answers <- r
			}()
			r, err := b.Query(update(one, n+2))
			if err != nil {
				t.Fatal(err)
			}
			first := <-answers
			if first == nil || (first.Err == nil) == (r.Err == nil) {
				t.Fatalf("both or none gave way: %+v, %+v", first, r)
			}
			winner, n2 := a, n+1
			if first.Err != nil {
				winner, n2, r = b, n+2, first
			}
			if r.Err.Code != mysql.ERLockDeadlock {
				t.Errorf("%v", r.Err)
			}
			must(t, winner, "COMMIT")
			want := fmt.Sprintf("[[%d] [%d]]", n, n2)
			if got := fmt.Sprint(must(t, a, "SELECT n FROM users WHERE id IN ("+one+", "+other+") ORDER BY n").Rows); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			for _, c := range []*mysqltest.RawClient{a, b} {
				if r := must(t, c, "DO 1"); r.Status.Has(mysql.ServerStatusInTrans) {
					t.Error("a transaction is open")
				}
			}
		}
		s.nothingPrepared(t)
	})
}

// onTwoNodes returns the ids of two users whose rows are on different nodes.
func (s *shards) onTwoNodes(t *testing.T) (one, other string) {
	t.Helper()
	var ids []string
	for _, n := range s.nodes {
		for _, table := range must(t, n, "SHOW TABLES LIKE 'users%'").Rows {
			if rows := must(t, n, fmt.Sprintf("SELECT MIN(id) FROM %s HAVING MIN(id) IS NOT NULL", table[0])).Rows; len(rows) == 1 {
				ids = append(ids, fmt.Sprint(rows[0][0]))
				break
			}
		}
	}
	if len(ids) != 2 {
		t.Fatalf("ids %v", ids)
	}
	return ids[0], ids[1]
}

// Random transactions over nodes, beside one server.
func TestRandomTransactionsOverNodes(t *testing.T) {
	statements := 300
	if os.Getenv("KS_ALL") != "" {
		statements = 20000
	}
	seed := rand.Uint64()
	if text := os.Getenv("KS_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("KS_SEED=%d", seed)
	onAtomicShards(t, rowsSchema, func(t *testing.T, s *shards) {
		s.fillRows(t)
		r := rand.New(rand.NewPCG(seed, 1))
		var last []string
		for k := range statements {
			sql := randomInTransaction(r)
			last = append(last[max(0, len(last)-12):], sql)
			s.inStep(t, sql, "")
			if k%10 == 9 {
				s.sameTables(t, strings.Join(last, "; "), "users", "countries")
			}
			if t.Failed() {
				t.Fatalf("behind %s", strings.Join(last, "; "))
			}
		}
		s.everywhere(t, "ROLLBACK")
		s.sameTables(t, "ROLLBACK", "users", "countries")
		s.nothingPrepared(t)
	})
}

// randomInTransaction is a statement about users and countries, or about the transaction.
func randomInTransaction(r *rand.Rand) string {
	id := func() int { return r.IntN(60) }
	forms := []func() string{
		func() string { return "BEGIN" },
		func() string { return "COMMIT" },
		func() string { return "ROLLBACK" },
		func() string { return "COMMIT AND CHAIN" },
		func() string { return "ROLLBACK AND CHAIN" },
		func() string { return "SET autocommit = " + strconv.Itoa(r.IntN(2)) },
		func() string { return "SAVEPOINT " + string(rune('a'+r.IntN(3))) },
		func() string { return "ROLLBACK TO " + string(rune('a'+r.IntN(3))) },
		func() string { return "RELEASE SAVEPOINT " + string(rune('a'+r.IntN(3))) },
		func() string { return fmt.Sprintf("SELECT n FROM users WHERE id = %d", id()) },
		func() string { return fmt.Sprintf("SELECT id, n FROM users WHERE id < %d ORDER BY id", id()) },
		func() string {
			return fmt.Sprintf("SELECT id, n FROM users WHERE id IN (%d, %d, %d) ORDER BY id FOR UPDATE", id(), id(), id())
		},
		func() string { return "SELECT 1" },
		func() string { return "SELECT name FROM countries ORDER BY code" },
	}
	changes := []func() string{
		func() string { return fmt.Sprintf("UPDATE users SET n = n + 1 WHERE id = %d", id()) },
		func() string {
			return fmt.Sprintf("UPDATE users SET n = %d WHERE id IN (%d, %d)", r.IntN(100), id(), id())
		},
		func() string { return "UPDATE users SET n = n + 1" },
		func() string { return fmt.Sprintf("DELETE FROM users WHERE id = %d", id()) },
		func() string {
			return fmt.Sprintf("DELETE FROM users WHERE id > %d ORDER BY id LIMIT 2", 30+r.IntN(30))
		},
		func() string { return fmt.Sprintf("INSERT INTO users (id, n) VALUES (%d, %d)", id(), r.IntN(9)) },
		func() string {
			return fmt.Sprintf("INSERT INTO users (id, n) VALUES (%d, 1), (%d, 2), (%d, 3)", id(), id(), id())
		},
		func() string { return fmt.Sprintf("REPLACE INTO users (id, n) VALUES (%d, 1), (%d, 2)", id(), id()) },
		func() string { return fmt.Sprintf("UPDATE users SET n = 'x' WHERE id < %d", id()) },
		func() string { return fmt.Sprintf("INSERT INTO countries VALUES ('A%d', 'x')", r.IntN(5)) },
		func() string { return fmt.Sprintf("DELETE FROM countries WHERE code = 'A%d'", r.IntN(5)) },
	}
	if r.IntN(2) == 0 {
		return changes[r.IntN(len(changes))]()
	}
	return forms[r.IntN(len(forms))]()
}
