package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
)

// The transaction of a session with autocommit off that has a connection to another node for something else, a lock or what only a server knows, goes on
// behind statements that run on that connection, and ends with all that it has changed.
func TestTransactionBesideHeldConnection(t *testing.T) {
	onAtomicShards(t, toldSchema, func(t *testing.T, s *shards) {
		next, whole := 0, 0
		both := []*mysqltest.RawClient{s.subject, s.oracle}
		for _, ahead := range [][]string{
			{"SET autocommit = 0"}, {"SET autocommit = 0", "EXECUTE q", "ROLLBACK"}, {"EXECUTE q", "SET autocommit = 0"}, {"DO GET_LOCK('held', 0)", "SET autocommit = 0"},
			{"DO GET_LOCK('held', 0)", "SET autocommit = 0", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"}, {"DO GET_LOCK('held', 0)", "BEGIN"},
		} {
			for n, change := range []string{
				"INSERT INTO orders (user_id, v) VALUES (%[1]d, 2) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id), v = 3", "INSERT INTO orders (user_id, id, v) VALUES (%[1]d, %[2]d, 2)",
				"REPLACE INTO orders (user_id, id, v) VALUES (%[1]d, %[2]d, 2), (%[1]d, %[3]d, 1)", "INSERT INTO orders (user_id, id, v) VALUES (%[1]d, %[2]d, 2), (7, %[3]d, 2), (8, %[3]d, 2)",
			} {
				if n > 0 && strings.HasPrefix(ahead[len(ahead)-1], "SET TRANSACTION") {
					break // what is refused leaves that to what follows
				}
				for _, behind := range []string{"DO 1", "DEALLOCATE PREPARE p", "RELEASE SAVEPOINT s1", "ROLLBACK TO SAVEPOINT s1", "SELECT IS_FREE_LOCK('held')"} {
					for user, end := range []string{"COMMIT", "ROLLBACK", "SET autocommit = 1", "COMMIT"} {
						next += 1000
						steps := slices.Concat(ahead, []string{fmt.Sprintf(change, user, next, next+1), behind, end})
						refused := false
						for _, sql := range steps {
							var said [2]string
							for k, c := range both {
								r, err := c.Query(sql)
								if err != nil {
									t.Fatalf("%q, at %s: %v", steps, sql, err)
								}
								if refused = r.Err != nil && r.Err.Code == kserror.TransactionNodes; refused {
									break
								}
								said[k] = fmt.Sprintf("%q in transaction %v", r.Rows, r.Err == nil && r.Status.Has(mysql.ServerStatusInTrans))
								if r.Err != nil {
									said[k] = fmt.Sprint("error ", r.Err.Code)
								}
							}
							if refused {
								break
							}
							if said[0] != said[1] {
								t.Fatalf("%q, at %s\n got %s\nwant %s", steps, sql, said[0], said[1])
							}
						}
						for _, c := range both {
							if refused {
								must(t, c, "ROLLBACK")
							}
							must(t, c, "SET autocommit = 1")
							must(t, c, "COMMIT") // what SET TRANSACTION said may go for the next one, too
							must(t, c, "DO RELEASE_LOCK('held')")
							must(t, c, fmt.Sprintf("INSERT INTO orders (user_id, id) VALUES (9, %d)", next+500)) // what a server loses of ids is its own
						}
						if !refused {
							whole++
						}
						if s.sameTables(t, fmt.Sprint(steps), "orders"); t.Failed() {
							return
						}
					}
				}
			}
		}
		if whole < 200 {
			t.Errorf("only %d were not refused", whole)
		}
	})
}
