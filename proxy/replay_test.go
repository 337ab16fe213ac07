package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/observe"
)

// replays are the counts of transactions that were replayed.
func (p *testProxy) replays(r observe.Replay) uint64 { return p.Totals().Replays[r] }

// replayed is a proxy with transaction_replay before a server with the tables a, s, which has two shards, and made, which counts its rows.
type replayed struct {
	*testProxy
	server *mysqltest.RealServer
	text   string // of the configuration, without transaction_replay
	direct *mysqltest.RawClient
	list   string // a query of the ids of the proxy's connections
}

func startReplayed(t *testing.T, server *mysqltest.RealServer) *replayed {
	t.Helper()
	r := &replayed{server: server, direct: dial(t, server.Addr, rootClient())}
	for _, text := range []string{
		"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database, "USE " + database,
		"CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(1000) NOT NULL)", "CREATE TABLE s_0000 LIKE a", "CREATE TABLE s_0001 LIKE a",
		"CREATE TABLE made (id INT AUTO_INCREMENT PRIMARY KEY, v INT NOT NULL)",
	} {
		must(t, r.direct, text)
	}
	r.list = "SELECT id FROM information_schema.processlist WHERE db = '" + database + "' AND id <> " + value(t, r.direct, "SELECT CONNECTION_ID()")
	rule := "{user: root, nodes: [n], default: n, shard: [{db: " + database + ", table: s, key: id, nodes: [n], type: mod, locations: [2]}]}"
	r.text = strings.Replace(oneNode(server.Addr, 4), "{user: root, nodes: [n], default: n}", rule, 1)
	if !strings.Contains(r.text, rule) {
		t.Fatal(r.text)
	}
	r.testProxy = startProxy(t, r.text+"transaction_replay: true\n")
	return r
}

// empty takes the rows of all tables away.
func (r *replayed) empty(t *testing.T) {
	t.Helper()
	for _, table := range []string{"a", "s_0000", "s_0001", "made"} {
		must(t, r.direct, "TRUNCATE "+table)
	}
}

// cut kills the connections that are in the database.
func (r *replayed) cut(t *testing.T) {
	t.Helper()
	for _, row := range must(t, r.direct, r.list).Rows {
		_, _ = r.direct.Query(fmt.Sprint("KILL ", row[0]))
	}
	mysqltest.WaitFor(t, "the connections to be gone", func() bool { return len(must(t, r.direct, r.list).Rows) == 0 })
}

// rows are those of a query straight on the server.
func (r *replayed) rows(t *testing.T, text string) string {
	t.Helper()
	return fmt.Sprint(must(t, r.direct, text).Rows)
}

// An open transaction whose connection broke goes on, on another one, where its statements have the answers there that the client has heard.
func TestTransactionReplay(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		on := startReplayed(t, server)
		off := startProxy(t, on.text)
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
			{name: "a read of a sharded table", before: []string{"BEGIN", "SELECT * FROM s WHERE id = 2"}, after: "INSERT INTO a VALUES (1, 'x')", behind: "[[1 x]]"},
			{name: "one text", before: []string{"BEGIN; INSERT INTO a VALUES (1, 'x'); SELECT * FROM a"}, after: "SELECT * FROM a", rows: "[[1 x]]", behind: "[[1 x]]"},
			{name: "warnings", before: []string{"BEGIN", "INSERT INTO a VALUES (1, 'x')", "INSERT IGNORE INTO a VALUES (1, 'x')"}, after: "SELECT @@warning_count", code: 1213, behind: "[]"},
			{name: "FOUND_ROWS", before: []string{"BEGIN", "INSERT INTO a SELECT 1, 'x'", "UPDATE a SET v = 'y' WHERE id IN (SELECT 7 UNION SELECT 8)"}, after: "DELETE FROM a", code: 1213, behind: "[]"},
			{name: "a savepoint ahead of the transaction", before: []string{"SET autocommit = 0", "SAVEPOINT p", "INSERT INTO a VALUES (1, 'x')"}, after: "ROLLBACK TO p", code: 1213, behind: "[]"},
			{name: "what matched", before: []string{"INSERT INTO a VALUES (1, 'x')", "BEGIN", "UPDATE a SET v = 'x'"}, between: "DELETE FROM a", after: "SELECT * FROM a", code: 1213, behind: "[]"},
			{name: "LAST_INSERT_ID", before: []string{"INSERT INTO made (v) VALUES (77)", "BEGIN", "INSERT INTO a VALUES (LAST_INSERT_ID(), 'x')"}, after: "SELECT LAST_INSERT_ID()", rows: "[[1]]", behind: "[[1 x]]"},
			{name: "another id", before: []string{"BEGIN", "INSERT INTO made (v) VALUES (77)"}, between: "INSERT INTO made (v) VALUES (78)", after: "SELECT LAST_INSERT_ID()", code: 1213, behind: "[]"},
			{name: "another row", before: []string{"BEGIN", "SELECT * FROM a"}, between: "INSERT INTO a VALUES (9, 'z')", after: "SELECT * FROM a", code: 1213, behind: "[[9 z]]"},
			{name: "another count", before: []string{"BEGIN", "UPDATE a SET v = 'y'"}, between: "INSERT INTO a VALUES (9, 'z')", after: "SELECT * FROM a", code: 1213, behind: "[[9 z]]"},
			{name: "much", before: append([]string{"BEGIN"}, much...), after: "SELECT COUNT(*) FROM a", code: 1213, behind: "[]"},
			{name: "a statement of no kind that is kept", before: []string{"BEGIN", "INSERT INTO a VALUES (1, 'x')", "DO 1"}, after: "SELECT * FROM a", code: 1213, behind: "[]"},
		} {
			t.Run(c.name, func(t *testing.T) {
				for _, p := range []*testProxy{off, on.testProxy} {
					code := c.code
					if p == off {
						code = 1213
					}
					on.empty(t)
					client := dial(t, p.addr, mysqltest.ClientConfig{User: "root", Password: "root", DB: database})
					for _, text := range c.before {
						if after, is := strings.CutPrefix(text, "!1062 "); is {
							fails(t, client, after, 1062)
							continue
						}
						must(t, client, text)
					}
					// What is asked of the server behind a SET is over: without its answer the session would end.
					if _, err := client.Command(mysql.ComPing, ""); err != nil {
						t.Fatal(err)
					}
					done := on.replays(observe.ReplayDone)
					on.cut(t)
					if c.between != "" && p != off {
						must(t, on.direct, c.between)
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
					if got := on.rows(t, "SELECT * FROM a"); got != c.behind {
						t.Errorf("the table has %s, want %s", got, c.behind)
					}
				}
			})
		}
		if on.replays(observe.ReplayDiffered) != 4 || off.replays(observe.ReplayDone)+off.replays(observe.ReplayDiffered)+off.replays(observe.ReplayFailed) != 0 {
			t.Errorf("%v, and without %v", on.Totals().Replays, off.Totals().Replays)
		}
	})
}

// What a replay must not do: take the values of a later execution, begin again and again, or say of an interrupted statement that its transaction goes on.
func TestTransactionReplayOdd(t *testing.T) {
	onBoth(t, func(t *testing.T, server *mysqltest.RealServer) {
		r := startReplayed(t, server)
		for name, run := range map[string]func(t *testing.T, c *mysqltest.RawClient){
			"long data of a later execution": func(t *testing.T, c *mysqltest.RawClient) {
				st, err := c.Prepare("INSERT INTO a VALUES (?, ?)")
				if err != nil {
					t.Fatal(err)
				}
				must(t, c, "BEGIN")
				if done, err := st.Execute(1, "first"); err != nil || done.Err != nil {
					t.Fatal(err, done)
				}
				r.cut(t)
				if err := c.Send(mysql.ComStmtSendLongData, string(mysql.AppendUint16(mysql.AppendUint32(nil, st.StatementID), 1))+"second"); err != nil {
					t.Fatal(err)
				}
				must(t, c, "SELECT COUNT(*) FROM a")
				must(t, c, "COMMIT")
				if got := r.rows(t, "SELECT * FROM a"); got != "[[1 first]]" {
					t.Error(got)
				}
			},
			"a statement that kills its connection each time": func(t *testing.T, c *mysqltest.RawClient) {
				must(t, c, "BEGIN")
				must(t, c, "INSERT INTO a VALUES (1, 'x')")
				answer := make(chan *mysqltest.RawResult, 1)
				go func() {
					got, err := c.Query("SELECT SLEEP(1000) FROM a")
					if err != nil {
						t.Error(err)
					}
					answer <- got
				}()
				for kills := 0; ; {
					for _, row := range must(t, r.direct, "SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(1000)%'").Rows {
						_, _ = r.direct.Query(fmt.Sprint("KILL ", row[0]))
						kills++
					}
					if kills > 10 {
						t.Fatal("it is sent again and again")
					}
					select {
					case got := <-answer:
						if got.Err == nil || got.Err.Code != 1213 || kills < 2 {
							t.Errorf("%v after %d kills", got, kills)
						}
						return
					case <-time.After(50 * time.Millisecond):
					}
				}
			},
			"KILL QUERY meanwhile": func(t *testing.T, c *mysqltest.RawClient) {
				id := value(t, c, "SELECT CONNECTION_ID()")
				must(t, c, "BEGIN")
				must(t, c, "INSERT INTO a VALUES (1, 'x')")
				r.cut(t)
				other := dial(t, server.Addr, rootClient()) // has the row's place: the replay waits
				must(t, other, "BEGIN")
				must(t, other, "INSERT INTO "+database+".a VALUES (1, 'other')")
				answer := make(chan *mysqltest.RawResult, 1)
				go func() {
					got, err := c.Query("SELECT * FROM a")
					if err != nil {
						t.Error(err)
					}
					answer <- got
				}()
				mysqltest.WaitFor(t, "the replay", func() bool {
					return len(must(t, r.direct, "SELECT id FROM information_schema.processlist WHERE info LIKE 'INSERT INTO a VALUES (1, %'").Rows) > 0
				})
				must(t, r.client(database), "KILL QUERY "+id)
				if got := <-answer; got.Err == nil || got.Err.Code != 1213 {
					t.Errorf("%v", got)
				}
				must(t, other, "ROLLBACK")
			},
		} {
			t.Run(name, func(t *testing.T) {
				r.empty(t)
				run(t, r.client(database))
			})
		}
	})
}

// A session finds what it has committed in a replayed transaction, also where reads are served by a replica of the new primary that has it not yet.
func TestTransactionReplayIsFound(t *testing.T) {
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			first := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: 1})
			settings := map[string]string{}
			if kind == mysqltest.MariaDB {
				settings["log_slave_updates"] = "1"
			}
			second := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ReplicaOf: first, ServerID: 2, Settings: settings})
			third := startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: second, ServerID: 3})
			must(t, dial(t, first.Addr, rootClient()), "CREATE TABLE test.t (id INT PRIMARY KEY, v INT NOT NULL DEFAULT 0)")
			for _, s := range []*mysqltest.RealServer{second, third} {
				if err := s.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			text := configText([]node{{name: "n", master: first.Addr, slave: third.Addr, conns: 8}}, "transaction_replay: true")
			p := startProxy(t, strings.Replace(text, "down_after_noalive: 1", "roles: fixed, max_replica_lag: 0", 1))
			c, eventual := p.client("test"), p.client("test")
			must(t, eventual, "SET ks_replica_consistency = 'eventual'")
			must(t, c, "INSERT INTO t VALUES (10, 1)")
			must(t, c, "BEGIN")
			must(t, c, "INSERT INTO t VALUES (1, 5)")
			promote(t, second)
			first.Kill()
			r := &replicated{kind: kind, replica: third, onReplica: dial(t, third.Addr, rootClient())}
			r.applies(t, 30)
			must(t, p.client(""), "KS NODE n SET PRIMARY '"+second.Addr+"'")
			mysqltest.WaitFor(t, "reads by the replica", func() bool { return servedBy(t, eventual) == "3" })
			must(t, c, "SELECT * FROM t WHERE id = 1")
			must(t, c, "COMMIT")
			if got := fmt.Sprint(must(t, c, "SELECT COUNT(*) FROM t WHERE id = 1").Rows); got != "[[1]]" || p.replays(observe.ReplayDone) != 1 {
				t.Errorf("%s rows, %v", got, p.Totals().Replays)
			}
		})
	}
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
