package session_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// onTwoNodes runs a test over the table users on two servers, of two sub-tables each: servers that say who waits for whom, and such
// that do not, for want of performance_schema or of the right PROCESS.
func onTwoNodes(t *testing.T, f func(t *testing.T, s *shards, blind bool)) {
	for _, kind := range bothKinds {
		for _, blind := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s blind %v", kind, blind), func(t *testing.T) {
				t.Parallel() // each has servers of its own
				var nodes []string
				user := "root"
				s := new(shards)
				for k, server := range nodesOfSort(t, nodeSort{kind, !blind}) {
					c := dial(t, server.Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
					s.nodes = append(s.nodes, c)
					must(t, c, "DROP DATABASE IF EXISTS shop")
					must(t, c, "CREATE DATABASE shop")
					for n := range 2 {
						must(t, c, fmt.Sprintf("CREATE TABLE shop.users_%04d (id INT NOT NULL PRIMARY KEY, v INT NOT NULL)", 2*k+n))
					}
					if blind {
						user = "few"
						must(t, c, "DROP USER IF EXISTS few@'%'")
						must(t, c, "CREATE USER few@'%' IDENTIFIED BY 'root'")
						must(t, c, "GRANT ALL ON shop.* TO few@'%'")
					}
					nodes = append(nodes, fmt.Sprintf("{name: n%d, max_conns_limit: 16, user: %s, password: root, allow_public_key_retrieval: true, master: \"%s\"}", k, user, server.Addr))
				}
				s.addr = startProxyText(t, fmt.Sprintf(`
addr: 127.0.0.1:0
user_list: [{user: root, password: root, local_infile: true}]
nodes: [%s]
schema_list:
  - user: root
    nodes: [n0, n1]
    default: n0
    shard: [{db: shop, table: users, key: id, type: hash, nodes: [n0, n1], locations: [2, 2]}]
`, strings.Join(nodes, ", ")))
				s.subject = dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
				f(t, s, blind)
			})
		}
	}
}

// accounts are what clients did to the rows of users together.
type accounts struct {
	added, inserted, deleted, deadlocks, done atomic.Int64
	longest                                   atomic.Int64 // of one statement, in nanoseconds
	next                                      atomic.Int64 // id
}

const (
	oldAccounts = 40
	newAccounts = 1000 // their ids are greater
)

// change runs a random change of several nodes.
func (a *accounts) change(c *mysqltest.RawClient, r *rand.Rand) error {
	ids := func(n int) []string {
		var list []string
		for _, id := range r.Perm(oldAccounts)[:n] {
			list = append(list, fmt.Sprint(id+1))
		}
		return list
	}
	var sql string
	kind := r.IntN(6)
	switch kind {
	case 0:
		sql = fmt.Sprintf("UPDATE users SET v = v + 1 WHERE id <= %d", oldAccounts)
	case 1:
		sql = "UPDATE users SET v = v + 1 WHERE id IN (" + strings.Join(ids(5), ", ") + ")"
	case 2:
		sql = "INSERT INTO users VALUES (" + strings.Join(ids(6), ", 1), (") + ", 1) ON DUPLICATE KEY UPDATE v = v + 1"
	case 3:
		n := a.next.Add(3) + newAccounts
		sql = fmt.Sprintf("INSERT INTO users VALUES (%d, 0), (%d, 0), (%d, 0)", n, n+1, n+2)
	case 4:
		sql = fmt.Sprintf("INSERT INTO users VALUES (%d, 0), (%s, 0), (%s, 0)", a.next.Add(3)+newAccounts, ids(1)[0], ids(1)[0])
	case 5:
		sql = fmt.Sprintf("DELETE FROM users WHERE id > %d ORDER BY id %s LIMIT 3", newAccounts, []string{"ASC", "DESC"}[r.IntN(2)])
	}
	began := time.Now()
	res, err := c.Query(sql)
	took := int64(time.Since(began))
	for longest := a.longest.Load(); took > longest && !a.longest.CompareAndSwap(longest, took); longest = a.longest.Load() {
	}
	switch {
	case err != nil:
		return err
	case res.Err != nil && res.Err.Code == mysql.ERLockDeadlock:
		a.deadlocks.Add(1)
		return nil
	case kind == 2 && res.OK.AffectedRows != 12 && res.Err == nil:
		return fmt.Errorf("%s: %+v", sql, res.OK)
	case kind == 4 && res.Err != nil && res.Err.Code == 1062:
		return nil
	case res.Err != nil:
		return fmt.Errorf("%s: %w", sql, res.Err)
	}
	a.done.Add(1)
	n := int64(res.OK.AffectedRows)
	switch kind {
	case 0, 1:
		a.added.Add(n)
	case 2:
		a.added.Add(n / 2)
	case 3:
		a.inserted.Add(n)
	case 4:
		return fmt.Errorf("%s: no error", sql)
	case 5:
		a.deleted.Add(n)
	}
	return nil
}

// workOn has six clients change rows of several nodes for some time, and until some changes are done. Their sum is right in the end, and no error is another than a deadlock's.
func workOn(t *testing.T, s *shards, d time.Duration) *accounts {
	var rows []string
	for id := range oldAccounts {
		rows = append(rows, fmt.Sprintf("(%d, 0)", id+1))
	}
	must(t, s.subject, "INSERT INTO users VALUES "+strings.Join(rows, ", "))
	a := new(accounts)
	var clients sync.WaitGroup
	stop, end := time.Now().Add(d), time.Now().Add(d+time.Minute)
	over := func(now time.Time) bool { return now.After(stop) && a.done.Load() >= 40 || now.After(end) }
	for k := range 6 {
		c := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
		r := rand.New(rand.NewPCG(1, uint64(k)))
		clients.Go(func() {
			for !over(time.Now()) {
				if err := a.change(c, r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	want := fmt.Sprintf("%d %d", a.added.Load(), a.inserted.Load()-a.deleted.Load())
	row := must(t, s.subject, fmt.Sprintf("SELECT SUM(v), SUM(id > %d) FROM users", newAccounts)).Rows[0]
	if got := fmt.Sprint(row[0], " ", row[1]); got != want {
		t.Errorf("sum and new rows are %s, want %s", got, want)
	}
	t.Logf("%d changes in %v, %d deadlocks, the longest took %v", a.done.Load(), d, a.deadlocks.Load(), time.Duration(a.longest.Load()))
	if a.done.Load() < 40 {
		t.Errorf("%d changes were done", a.done.Load())
	}
	return a
}

// Changes of several nodes do not wait for each other across them. KS_CHANGES is for how long they are tried, such as 60s: then none may
// take longer than three seconds either.
func TestChangesDoNotWaitForEachOther(t *testing.T) {
	d := time.Second
	long := os.Getenv("KS_CHANGES")
	if long != "" {
		var err error
		if d, err = time.ParseDuration(long); err != nil {
			t.Fatal(err)
		}
	}
	onTwoNodes(t, func(t *testing.T, s *shards, blind bool) {
		a := workOn(t, s, d)
		if longest := time.Duration(a.longest.Load()); long != "" && longest > 3*time.Second {
			t.Errorf("a change took %v", longest)
		}
	})
}

// Files cannot be loaded in the order of the nodes: where two have rows of each other's, one gives way.
func TestCircleOfLoads(t *testing.T) {
	onTwoNodes(t, func(t *testing.T, s *shards, blind bool) {
		// Rows of the first node are those of the sub-tables 0 and 1.
		var parts [2]strings.Builder
		for id := range 40_000 {
			fmt.Fprintf(&parts[id%4/2], "%d\t0\n", id)
		}
		files := []string{parts[0].String() + parts[1].String(), parts[1].String() + parts[0].String()}
		for range 5 {
			var codes [2]uint16
			var clients sync.WaitGroup
			for k, file := range files {
				c := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop", Capabilities: mysqltest.ScriptCapabilities | mysql.ClientLocalFiles})
				clients.Go(func() {
					r, err := c.Query("LOAD DATA LOCAL INFILE 'f' INTO TABLE users")
					if err == nil && r.LocalInfile != "" {
						r, err = c.SendFile([]byte(file))
					}
					switch {
					case err != nil:
						t.Error(err)
					case r.Err != nil:
						codes[k] = r.Err.Code
					}
				})
			}
			clients.Wait()
			n := must(t, s.subject, "SELECT COUNT(*) FROM users").Rows[0][0]
			if n != "40000" && !(blind && n == "0") { // without being told who waits, both may give way
				t.Errorf("%v rows, errors %v", n, codes)
			}
			for _, code := range codes {
				if code != 0 && code != mysql.ERLockDeadlock && !(blind && code == 1205) {
					t.Errorf("error %d", code)
				}
			}
			if codes != [2]uint16{} {
				return
			}
			must(t, s.subject, "DELETE FROM users")
		}
		t.Error("no file had to give way")
	})
}

// Without being told who waits for whom, a change that goes through its nodes in order waits for a row lock as on one server; one that
// does not begins anew, and gives way in the end, though nothing else of several nodes runs.
func TestLockedRowOfLaterNode(t *testing.T) {
	onTwoNodes(t, func(t *testing.T, s *shards, blind bool) {
		if !blind {
			return
		}
		must(t, s.subject, "INSERT INTO users VALUES (1, 0), (2, 0), (3, 0), (4, 0)")
		retries := func() string {
			return fmt.Sprint(must(t, s.subject, "SHOW KS STATUS LIKE 'Row_lock_%'").Rows)
		}
		none := retries()
		for _, c := range []struct {
			sql   string
			waits bool
		}{
			{"UPDATE users SET v = v + 1", true},
			{"INSERT INTO users VALUES (1, 0), (2, 0), (3, 0), (4, 0) ON DUPLICATE KEY UPDATE v = v + 1", true},
			{"DELETE FROM users ORDER BY id LIMIT 4", false},
		} {
			before := retries()
			later := s.nodes[1]
			must(t, later, "BEGIN")
			must(t, later, "SELECT * FROM shop.users_0002 FOR UPDATE")
			done := make(chan *mysqltest.RawResult, 1)
			changer := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
			go func() {
				r, err := changer.Query(c.sql)
				if err != nil {
					t.Error(err)
				}
				done <- r
			}()
			if c.waits {
				select {
				case r := <-done:
					t.Errorf("%s did not wait: %+v", c.sql, r)
					continue
				case <-time.After(2500 * time.Millisecond): // more than the least that a server can be told to wait
				}
				must(t, later, "COMMIT")
				if r := <-done; r == nil || r.Err != nil {
					t.Errorf("%s: %+v", c.sql, r)
				}
				if after := retries(); after != none {
					t.Errorf("%s: %s", c.sql, after)
				}
				continue
			}
			if r := <-done; r == nil || r.Err == nil || r.Err.Code != mysql.ERLockDeadlock {
				t.Errorf("%s: %+v", c.sql, r)
			}
			must(t, later, "COMMIT")
			if after := retries(); after == before {
				t.Errorf("%s did not begin anew: %s", c.sql, after)
			}
		}
	})
}

// What hurries a change on a connection is gone behind it: on those that the session goes on holding, and on those of other clients.
func TestHurryEndsWithTheChange(t *testing.T) {
	onTwoNodes(t, func(t *testing.T, s *shards, blind bool) {
		must(t, s.subject, "INSERT INTO users VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0)")
		want := fmt.Sprint(must(t, s.nodes[0], "SELECT @@global.innodb_lock_wait_timeout").Rows)
		for _, hold := range []string{"PREPARE s FROM 'SELECT 1'", "SET @x := (SELECT 5)", "DO 0"} {
			for _, change := range []string{"DELETE FROM users ORDER BY id LIMIT 1", "UPDATE users SET v = v + 1 ORDER BY id DESC LIMIT 3", "UPDATE users SET v = v + 1"} {
				c := dial(t, s.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: "shop"})
				for _, sql := range []string{hold, change} {
					must(t, c, sql)
				}
				if got := fmt.Sprint(must(t, c, "SELECT @@innodb_lock_wait_timeout").Rows); got != want {
					t.Errorf("%s; %s: the session has %s, want %s", hold, change, got, want)
				}
				if strings.HasPrefix(hold, "PREPARE") {
					must(t, c, "DEALLOCATE PREPARE s")
				}
				for range 4 {
					if got := fmt.Sprint(must(t, s.subject, "SELECT @@innodb_lock_wait_timeout").Rows); got != want {
						t.Errorf("%s; %s: another one has %s, want %s", hold, change, got, want)
					}
				}
				c.Close()
			}
		}
	})
}
