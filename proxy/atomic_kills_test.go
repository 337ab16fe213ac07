package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"kingshard/mysql/mysqltest"
)

// wholeRig is two tables on two servers whose rows belong together: each client has rows on both in t, whose columns v are always the same, and in the
// reference table r one row. Servers write all down before they answer, as far as the machine does.
type wholeRig struct {
	t       *testing.T
	servers [2]*mysqltest.RealServer
	binary  string
	addr    atomic.Pointer[string]

	kept, failed atomic.Int64
}

func startWhole(t *testing.T, kind mysqltest.Kind) *wholeRig {
	r := &wholeRig{t: t, binary: buildBinary(t)}
	for k := range r.servers {
		s := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: k + 1, Settings: map[string]string{"sync-binlog": "1", "innodb-flush-log-at-trx-commit": "1"}})
		r.servers[k] = s
		db, err := s.DB("")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, statement := range []string{
			"CREATE DATABASE shop", fmt.Sprintf("CREATE TABLE shop.t_000%d (id INT PRIMARY KEY, client INT NOT NULL, v INT NOT NULL, KEY (client))", k),
			"CREATE TABLE shop.r (client INT PRIMARY KEY, v INT NOT NULL)",
		} {
			if _, err := db.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
	return r
}

// proxy starts one.
func (r *wholeRig) proxy() *daemon {
	d := startDaemon(r.t, r.binary, fmt.Sprintf(`
addr: 127.0.0.1:0
transaction_mode: atomic
health_interval: 200ms
connect_timeout: 2s
pool_wait_timeout: 5s
user_list: [{user: app, password: app, rights: admin, local_infile: true}]
nodes:
  - {name: n1, max_conns_limit: 40, allow_public_key_retrieval: true, user: root, password: root, master: "%s"}
  - {name: n2, max_conns_limit: 40, allow_public_key_retrieval: true, user: root, password: root, master: "%s"}
schema_list:
  - user: app
    nodes: [n1, n2]
    default: n1
    shard:
      - {db: shop, table: t, key: id, nodes: [n1, n2], type: hash, locations: [1, 1]}
      - {db: shop, table: r, type: reference, nodes: [n1, n2]}
`, r.servers[0].Addr, r.servers[1].Addr))
	r.addr.Store(&d.addr)
	return d
}

// wholeStatements each change rows of one client on both servers. %[1]d is the client, %[2]d and %[3]d ids on two shards, %[4]d a value.
var wholeStatements = []string{
	"UPDATE t SET v = %[4]d WHERE client = %[1]d",
	"INSERT INTO t (id, client, v) VALUES (%[2]d, %[1]d, %[4]d), (%[3]d, %[1]d, %[4]d) ON DUPLICATE KEY UPDATE v = %[4]d",
	"DELETE FROM t WHERE client = %[1]d",
	"REPLACE INTO t (id, client, v) VALUES (%[2]d, %[1]d, %[4]d), (%[3]d, %[1]d, %[4]d)",
	"UPDATE t SET v = %[4]d WHERE client = %[1]d ORDER BY id LIMIT 2",
	"REPLACE INTO r (client, v) VALUES (%[1]d, %[4]d)",
}

// change changes rows through the proxies until ctx ends, one kind of statement behind the other. What fails is tried again with the next one.
func (r *wholeRig) change(ctx context.Context, client int) {
	for value := 1; ctx.Err() == nil; {
		db, err := sql.Open("mysql", "app:app@tcp("+*r.addr.Load()+")/shop?timeout=2s&readTimeout=20s")
		if err != nil {
			r.t.Error(err)
			return
		}
		db.SetMaxOpenConns(1)
		for ctx.Err() == nil {
			value++
			text := wholeStatements[value%len(wholeStatements)]
			if _, err = db.Exec(fmt.Sprintf(strings.ReplaceAll(text, "%[1]d", fmt.Sprint(client)), client, 2*client, 2*client+1, value)); err != nil {
				r.failed.Add(1)
				break
			}
			r.kept.Add(1)
		}
		_ = db.Close()
	}
}

// check looks for clients whose rows on the two servers are not what one statement made of them.
func (r *wholeRig) check(clients int) (halves int) {
	r.t.Helper()
	states := [2]map[int]string{{}, {}}
	for k, s := range r.servers {
		db, err := s.DB("shop")
		if err != nil {
			r.t.Fatal(err)
		}
		defer db.Close()
		rows, err := db.Query(fmt.Sprintf("SELECT client, CONCAT('t', v) FROM t_000%d UNION ALL SELECT client, CONCAT('r', v) FROM r ORDER BY 1, 2", k))
		if err != nil {
			r.t.Fatal(err)
		}
		for rows.Next() {
			var client int
			var state string
			if err := rows.Scan(&client, &state); err != nil {
				r.t.Fatal(err)
			}
			states[k][client] += state + " "
		}
		if err := rows.Err(); err != nil {
			r.t.Fatal(err)
		}
	}
	for client := 1; client <= clients; client++ {
		if states[0][client] != states[1][client] {
			halves++
			r.t.Errorf("client %d: %q on one server, %q on the other", client, states[0][client], states[1][client])
		}
	}
	return halves
}

// settled waits until no branch is prepared on any server.
func (r *wholeRig) settled() {
	r.t.Helper()
	mysqltest.WaitFor(r.t, "nothing is prepared", func() bool {
		for _, s := range r.servers {
			if len(must(r.t, dial(r.t, s.Addr, rootClient()), "XA RECOVER").Rows) > 0 {
				return false
			}
		}
		return true
	})
}

// No statement is kept by one of two servers only while the proxy and the servers are killed: 6 times, or with KS_ALL 500 times.
func TestStatementsAreWholeThroughKills(t *testing.T) {
	kills, clients := 6, 8
	if os.Getenv("KS_ALL") != "" {
		kills = 500
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startWhole(t, kind)
			d := r.proxy()
			ctx, cancel := context.WithCancel(t.Context())
			var load sync.WaitGroup
			defer load.Wait()
			defer cancel()
			for client := 1; client <= clients; client++ {
				load.Go(func() { r.change(ctx, client) })
			}
			dice := rand.New(rand.NewPCG(1, 2))
			for n := range kills {
				for end := r.kept.Load() + 20; r.kept.Load() < end; {
					mysqltest.WaitFor(t, "changes", func() bool { return r.kept.Load() >= end || t.Failed() })
					if t.Failed() {
						t.FailNow()
					}
				}
				time.Sleep(time.Duration(dice.IntN(20_000)) * time.Microsecond) // so that it meets all steps
				switch n % 3 {
				case 0, 1:
					_ = syscall.Kill(d.pids[0], syscall.SIGKILL)
					d = r.proxy()
				default:
					s := r.servers[n/3%2]
					s.Kill()
					restart, end := context.WithTimeout(t.Context(), 2*time.Minute)
					err := s.Restart(restart)
					end()
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			cancel()
			load.Wait()
			r.settled()
			halves := r.check(clients)
			t.Logf("%d kills, %d changes kept, %d failed, %d half", kills, r.kept.Load(), r.failed.Load(), halves)
		})
	}
}
