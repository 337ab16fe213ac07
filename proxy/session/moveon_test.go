package session_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"kingshard/mysql/mysqltest"
)

// With transactions that change one node, what a transaction reads ahead of its first change does not choose that node, nor do a SET or a SHOW; a savepoint and
// what locks rows do.
func TestReadsChooseNoNode(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			servers := append([]*mysqltest.RealServer{mysqltest.Shared(t, kind)}, nodesOf(t, kind)...)
			s := startShards(t, servers, []int{1, 1}, rowsSchema, "transaction_mode: single")
			s.fillRows(t)
			one, other := s.onTwoNodes(t)
			read := func(id string) string { return "SELECT n FROM users WHERE id = " + id }
			reads := []string{"SELECT 1", "SET @x = 1", "SELECT COUNT(*) FROM users", read(one), read(other), "SELECT @@version", "SELECT @x", "SHOW VARIABLES LIKE 'autocommit'", "SELECT LAST_INSERT_ID(), ROW_COUNT()"}
			same := func(sql string) {
				t.Helper()
				s.inStep(t, sql, "")
			}
			dice := rand.New(rand.NewPCG(1, 2))
			for round := range 60 {
				begin := []string{"BEGIN", "START TRANSACTION", "SET autocommit = 0"}[dice.IntN(3)]
				same(begin)
				for range 1 + dice.IntN(4) {
					same(reads[dice.IntN(len(reads))])
				}
				id := []string{one, other}[dice.IntN(2)]
				change := fmt.Sprintf("UPDATE users SET n = %d WHERE id = %s", 1000+round, id)
				if dice.IntN(4) == 0 {
					change = fmt.Sprintf("INSERT INTO users (id, n) VALUES (%s, 1) ON DUPLICATE KEY UPDATE n = %d", id, 1000+round)
				}
				same(change)
				for range dice.IntN(3) {
					same(reads[dice.IntN(len(reads))])
				}
				same(read(id))
				if last := map[string]string{one: other, other: one}[id]; dice.IntN(3) == 0 {
					fails(t, s.subject, "UPDATE users SET n = 1 WHERE id = "+last, 9004)
				}
				same([]string{"COMMIT", "ROLLBACK"}[dice.IntN(2)])
				same("SET autocommit = 1")
				same(read(one))
				same(read(other))
			}
			for _, fixes := range []string{"SAVEPOINT a", read(one) + " FOR UPDATE"} {
				must(t, s.subject, "BEGIN")
				must(t, s.subject, read(one))
				must(t, s.subject, fixes)
				fails(t, s.subject, "UPDATE users SET n = 1 WHERE id = "+other, 9004)
				must(t, s.subject, "UPDATE users SET n = 1 WHERE id = "+one)
				must(t, s.subject, "ROLLBACK")
			}
			// What the transaction had seen it still sees, and its level is the one that it began with.
			writer := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
			before := mustInt(t, s.subject, read(one))
			must(t, s.subject, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
			must(t, s.subject, "BEGIN")
			must(t, s.subject, read(one))
			must(t, writer, fmt.Sprintf("UPDATE users SET n = %d WHERE id = %s", before+1, one))
			must(t, s.subject, "UPDATE users SET n = 5 WHERE id = "+other)
			if n := mustInt(t, s.subject, read(one)); n != before {
				t.Errorf("the transaction sees %d, not %d", n, before)
			}
			must(t, s.subject, "COMMIT")
			if n := mustInt(t, s.subject, read(one)); n != before+1 {
				t.Errorf("behind it is %d, not %d", n, before+1)
			}
		})
	}
}
