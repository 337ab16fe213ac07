package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/observe"
)

// replays are the counts of transactions that were replayed.
func (p *testProxy) replays(r observe.Replay) uint64 { return p.Totals().Replays[r] }

// An open transaction whose connection broke goes on, on another one, where its statements have the answers there that the client has heard.
func TestTransactionReplay(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		direct := dial(t, server.Addr, rootClient())
		must(t, direct, "DROP DATABASE IF EXISTS "+database)
		must(t, direct, "CREATE DATABASE "+database)
		must(t, direct, "USE "+database)
		for _, table := range []string{"a", "s_0000", "s_0001"} {
			must(t, direct, "CREATE TABLE "+table+" (id INT PRIMARY KEY, v VARCHAR(1000) NOT NULL)")
		}
		must(t, direct, "CREATE TABLE made (id INT AUTO_INCREMENT PRIMARY KEY, v INT NOT NULL)")
		own := value(t, direct, "SELECT CONNECTION_ID()")
		rule := "{user: root, nodes: [n], default: n, shard: [{db: " + database + ", table: s, key: id, nodes: [n], type: mod, locations: [2]}]}"
		text := strings.Replace(oneNode(server.Addr, 4), "{user: root, nodes: [n], default: n}", rule, 1)
		if !strings.Contains(text, rule) {
			t.Fatal(text)
		}
		on, off := startProxy(t, text+"transaction_replay: true\n"), startProxy(t, text)
		list := "SELECT id FROM information_schema.processlist WHERE db = '" + database + "' AND id <> " + own
		kill := func(t *testing.T) {
			for _, row := range must(t, direct, list).Rows {
				_, _ = direct.Query(fmt.Sprint("KILL ", row[0]))
			}
			mysqltest.WaitFor(t, "the connections to be gone", func() bool { return len(must(t, direct, list).Rows) == 0 })
		}
		long := strings.Repeat("x", 900)
		var much []string
		for k := range 1200 {
			much = append(much, fmt.Sprintf("INSERT INTO a VALUES (%d, '%s')", 100+k, long))
		}
		for _, c := range []struct {
			name    string
			before  []string
			between string // what another client does meanwhile
			after   string
			code    uint16 // of its error
			rows    string // of a query of the table behind it
			behind  string // the rows of the table a once the transaction is committed; of s and made without a
		}{
			{name: "changes", before: []string{"BEGIN", "INSERT INTO a VALUES (1, 'x')", "UPDATE a SET v = 'y'"}, after: "SELECT * FROM a", rows: "[[1 y]]", behind: "[[1 y]]"},
			{name: "nothing yet", before: []string{"BEGIN", "SELECT 1 FROM a"}, after: "INSERT INTO a VALUES (1, 'x')", behind: "[[1 x]]"},
			{name: "COMMIT", before: []string{"BEGIN", "INSERT INTO a VALUES (1, 'x')"}, after: "COMMIT", behind: "[[1 x]]"},
			{name: "errors", before: []string{"BEGIN", "INSERT INTO a VALUES (1, 'x')", "!1062 INSERT INTO a VALUES (1, 'y')"}, after: "SELECT * FROM a", rows: "[[1 x]]", behind: "[[1 x]]"},
			{name: "autocommit off", before: []string{"SET autocommit = 0", "INSERT INTO a VALUES (1, 'x')"}, after: "SELECT * FROM a", rows: "[[1 x]]", behind: "[[1 x]]"},
			{name: "savepoints", before: []string{"BEGIN", "INSERT INTO a VALUES (1, 'x')", "SAVEPOINT p", "INSERT INTO a VALUES (2, 'y')", "ROLLBACK TO p"}, after: "SELECT * FROM a", rows: "[[1 x]]", behind: "[[1 x]]"},
			{name: "isolation level", before: []string{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", "INSERT INTO a VALUES (1, 'x')"}, after: "SELECT * FROM a", rows: "[[1 x]]", behind: "[[1 x]]"},
			{name: "a setting meanwhile", before: []string{"BEGIN", "INSERT INTO a VALUES (1, \"x\")", "SET sql_mode = 'ANSI_QUOTES'"}, after: "SELECT * FROM a", code: 1213, behind: "[]"},
			{name: "a setting before", before: []string{"SET sql_mode = 'ANSI_QUOTES'", "BEGIN", "INSERT INTO \"a\" VALUES (1, 'x')"}, after: "SELECT * FROM \"a\"", rows: "[[1 x]]", behind: "[[1 x]]"},
			{name: "a sharded table", before: []string{"BEGIN", "INSERT INTO s VALUES (2, 'x')"}, after: "SELECT * FROM s WHERE id = 2", rows: "[[2 x]]", behind: "[]"},
			{name: "LAST_INSERT_ID", before: []string{"INSERT INTO made (v) VALUES (77)", "BEGIN", "INSERT INTO a VALUES (LAST_INSERT_ID(), 'x')"}, after: "SELECT LAST_INSERT_ID()", rows: "[[1]]", behind: "[[1 x]]"},
			{name: "another id", before: []string{"BEGIN", "INSERT INTO made (v) VALUES (77)"}, between: "INSERT INTO made (v) VALUES (78)", after: "SELECT LAST_INSERT_ID()", code: 1213, behind: "[]"},
			{name: "another row", before: []string{"BEGIN", "SELECT * FROM a"}, between: "INSERT INTO a VALUES (9, 'z')", after: "SELECT * FROM a", code: 1213, behind: "[[9 z]]"},
			{name: "another count", before: []string{"BEGIN", "UPDATE a SET v = 'y'"}, between: "INSERT INTO a VALUES (9, 'z')", after: "SELECT * FROM a", code: 1213, behind: "[[9 z]]"},
			{name: "much", before: append([]string{"BEGIN"}, much...), after: "SELECT COUNT(*) FROM a", code: 1213, behind: "[]"},
			{name: "a statement of no kind that is kept", before: []string{"BEGIN", "INSERT INTO a VALUES (1, 'x')", "DO 1"}, after: "SELECT * FROM a", code: 1213, behind: "[]"},
		} {
			t.Run(c.name, func(t *testing.T) {
				for _, p := range []*testProxy{off, on} {
					code := c.code
					if p == off {
						code = 1213
					}
					for _, table := range []string{"a", "s_0000", "s_0001", "made"} {
						must(t, direct, "TRUNCATE "+table)
					}
					client := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
					for _, text := range c.before {
						if after, is := strings.CutPrefix(text, "!1062 "); is {
							fails(t, client, after, 1062)
							continue
						}
						must(t, client, text)
					}
					done := on.replays(observe.ReplayDone)
					kill(t)
					if c.between != "" && p == on {
						must(t, direct, c.between)
					}
					r, err := client.Query(c.after)
					if err != nil {
						t.Fatal(err)
					}
					switch {
					case code != 0 && (r.Err == nil || r.Err.Code != code):
						t.Errorf("%v, want %d", r.Err, code)
					case code == 0 && r.Err != nil:
						t.Error(r.Err)
					case code == 0 && (fmt.Sprint(r.Rows) != c.rows && c.rows != "" || on.replays(observe.ReplayDone) != done+1):
						t.Errorf("%v, want %s; %d replays", r.Rows, c.rows, on.replays(observe.ReplayDone)-done)
					}
					if p == off {
						must(t, client, "ROLLBACK")
						continue
					}
					must(t, client, "COMMIT")
					if got := fmt.Sprint(must(t, direct, "SELECT * FROM a").Rows); got != c.behind {
						t.Errorf("the table has %s, want %s", got, c.behind)
					}
				}
			})
		}
		if on.replays(observe.ReplayDiffered) != 3 || off.replays(observe.ReplayDone)+off.replays(observe.ReplayDiffered)+off.replays(observe.ReplayFailed) != 0 {
			t.Errorf("%v, and without %v", on.Totals().Replays, off.Totals().Replays)
		}
	})
}

// A transaction that is open when its primary dies goes on on the server that is promoted, texts and executions of prepared statements alike.
func TestTransactionReplayOnNewPrimary(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			primary, replica := startPair(t, kind)
			direct := dial(t, primary.Addr, rootClient())
			must(t, direct, "CREATE DATABASE "+database)
			must(t, direct, "CREATE TABLE "+database+".t (id INT PRIMARY KEY, v VARCHAR(20) NOT NULL)")
			p := startProxy(t, configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 8}}, "transaction_replay: true"), "primary_wait_timeout: 60s")
			db := p.db("")
			db.SetMaxOpenConns(1)
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tx.Rollback() }()
			insert, err := tx.Prepare("INSERT INTO t VALUES (?, ?)")
			if err != nil {
				t.Fatal(err)
			}
			for k := range 3 {
				if _, err := insert.Exec(k, fmt.Sprint("row ", k)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := tx.Exec("UPDATE t SET v = CONCAT(v, '!') WHERE id = 1"); err != nil {
				t.Fatal(err)
			}
			primary.Kill()
			executed := make(chan error, 1)
			go func() {
				_, err := insert.Exec(3, "row 3")
				executed <- err
			}()
			mysqltest.WaitFor(t, "the statement to be held", func() bool { return p.Nodes()["n"].HoldStats().Waiting > 0 })
			promote(t, replica)
			if err := <-executed; err != nil {
				t.Fatal(err)
			}
			var seen string
			if err := tx.QueryRow("SELECT GROUP_CONCAT(v ORDER BY id) FROM t WHERE id < ?", 3).Scan(&seen); err != nil || seen != "row 0,row 1!,row 2" {
				t.Errorf("%s, %v", seen, err)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(must(t, dial(t, replica.Addr, rootClient()), "SELECT * FROM "+database+".t").Rows); got != "[[0 row 0] [1 row 1!] [2 row 2] [3 row 3]]" {
				t.Error(got)
			}
			if p.replays(observe.ReplayDone) != 1 {
				t.Errorf("%v", p.Totals().Replays)
			}
		})
	}
}

// A switch by plan that ends what transactions it finds open ends none of those that can be replayed.
func TestTransactionReplayThroughSwitchover(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			primary, replica := startPair(t, kind)
			must(t, dial(t, primary.Addr, rootClient()), "CREATE TABLE test.t (id INT PRIMARY KEY)")
			text := configText([]node{{name: "n", master: primary.Addr, slave: replica.Addr, conns: 8}}, "transaction_replay: true")
			text = strings.Replace(text, "down_after_noalive", fmt.Sprintf("replication_user: %s, replication_password: %s, down_after_noalive", mysqltest.User, mysqltest.Password), 1)
			p := startProxy(t, text, "primary_wait_timeout: 60s")
			c := p.client("test")
			must(t, c, "BEGIN")
			must(t, c, "INSERT INTO t VALUES (1)")
			must(t, p.client(""), "KS NODE n SWITCHOVER TO '"+replica.Addr+"' SECONDS 1 FORCE 'to be replayed'")
			must(t, c, "INSERT INTO t VALUES (2)")
			must(t, c, "COMMIT")
			if got := fmt.Sprint(must(t, dial(t, replica.Addr, rootClient()), "SELECT id FROM test.t").Rows); got != "[[1] [2]]" || p.replays(observe.ReplayDone) != 1 {
				t.Errorf("the table has %s, %v", got, p.Totals().Replays)
			}
		})
	}
}

// Transfers between accounts are whole, and those that were acknowledged are there, while connections are killed and transactions replayed.
func TestTransactionReplayUnderKills(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		const clients, transfers, accounts = 8, 40, 20
		direct := dial(t, server.Addr, rootClient())
		for _, text := range []string{
			"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database, "USE " + database,
			"CREATE TABLE account (id INT PRIMARY KEY, v INT NOT NULL)", "CREATE TABLE done (id INT PRIMARY KEY)",
		} {
			must(t, direct, text)
		}
		for id := range accounts {
			must(t, direct, fmt.Sprintf("INSERT INTO account VALUES (%d, 100)", id))
		}
		own := value(t, direct, "SELECT CONNECTION_ID()")
		p := startProxy(t, oneNode(server.Addr, clients, "transaction_replay: true"))
		var (
			working        sync.WaitGroup
			mu             sync.Mutex
			known, unknown = map[string]bool{}, map[string]bool{}
		)
		for n := range clients {
			c := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
			working.Go(func() {
				for k := range transfers {
					id := fmt.Sprint(n*transfers + k)
					from := rand.N(accounts - 1)
					to := from + 1 + rand.N(accounts-from-1)
					var r *mysqltest.RawResult
					for _, text := range []string{
						"BEGIN", fmt.Sprintf("SELECT * FROM account WHERE id IN (%d, %d) ORDER BY id FOR UPDATE", from, to), fmt.Sprintf("UPDATE account SET v = v - 1 WHERE id = %d", from),
						fmt.Sprintf("UPDATE account SET v = v + 1 WHERE id = %d", to), "INSERT INTO done VALUES (" + id + ")", "COMMIT",
					} {
						var err error
						if r, err = c.Query(text); err != nil {
							t.Errorf("%s: %v", text, err)
							return
						}
						if r.Err != nil && !isCode(r.Err, 1213) && !isCode(r.Err, 9003) {
							t.Errorf("%s: %v", text, r.Err)
						}
						if r.Err != nil {
							break
						}
					}
					mu.Lock()
					switch {
					case r.Err == nil:
						known[id] = true
					case r.Err.Code == 9003:
						unknown[id] = true
					}
					mu.Unlock()
				}
			})
		}
		over := make(chan struct{})
		go func() {
			working.Wait()
			close(over)
		}()
		list := "SELECT id FROM information_schema.processlist WHERE db = '" + database + "' AND id <> " + own
		for ended := false; !ended; {
			for _, row := range must(t, direct, list).Rows {
				if rand.N(4) == 0 {
					_, _ = direct.Query(fmt.Sprint("KILL ", row[0]))
				}
			}
			select {
			case <-over:
				ended = true
			case <-time.After(20 * time.Millisecond):
			}
		}
		if got := value(t, direct, "SELECT SUM(v) FROM account"); got != fmt.Sprint(100*accounts) {
			t.Errorf("the accounts have %s", got)
		}
		for _, row := range must(t, direct, "SELECT id FROM done").Rows {
			if id := row[0].(string); !known[id] && !unknown[id] {
				t.Errorf("transfer %s is there, and its client heard that it is not", id)
			} else {
				delete(known, id)
			}
		}
		if len(known) > 0 {
			t.Errorf("%d transfers were acknowledged and are not there", len(known))
		}
		if p.replays(observe.ReplayDone) == 0 {
			t.Error("nothing was replayed")
		}
		t.Logf("replays %v, %d transfers of unknown end", p.Totals().Replays, len(unknown))
	})
}
