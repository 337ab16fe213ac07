package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// countedRig is a table of four sub-tables on two servers, whose ids are not its sharding key, behind several proxies.
type countedRig struct {
	t       *testing.T
	servers [2]*mysqltest.RealServer
	binary  string
	text    string

	mu      sync.Mutex
	proxies []string          // addresses
	seen    map[uint64]string // ids that a client was told, with where its row is
	told    atomic.Int64
}

func startCounted(t *testing.T, kind mysqltest.Kind) *countedRig {
	r := &countedRig{t: t, binary: buildBinary(t), seen: map[uint64]string{}}
	for k := range r.servers {
		s, err := mysqltest.StartServer(t.Context(), mysqltest.ServerConfig{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Stop() })
		r.servers[k] = s
		db, err := s.DB("")
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{"CREATE DATABASE shop", fmt.Sprintf("CREATE TABLE shop.orders_000%d (id BIGINT AUTO_INCREMENT PRIMARY KEY, user_id INT NOT NULL)", 2*k),
			fmt.Sprintf("CREATE TABLE shop.orders_000%d LIKE shop.orders_000%d", 2*k+1, 2*k)} {
			if _, err := db.Exec(statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		db.Close()
	}
	r.text = fmt.Sprintf(`
addr: 127.0.0.1:0
health_interval: 200ms
connect_timeout: 2s
pool_wait_timeout: 5s
user_list: [{user: app, password: app}]
nodes:
  - {name: n1, max_conns_limit: 40, user: root, password: root, master: "%s"}
  - {name: n2, max_conns_limit: 40, user: root, password: root, master: "%s"}
schema_list:
  - {user: app, nodes: [n1, n2], default: n1, shard: [{db: shop, table: orders, key: user_id, nodes: [n1, n2], type: hash, locations: [2, 2]}]}
`, r.servers[0].Addr, r.servers[1].Addr)
	return r
}

// proxy starts a further one, in the place of that with the number k, or of none.
func (r *countedRig) proxy(k int) *daemon {
	d := startDaemon(r.t, r.binary, r.text)
	r.mu.Lock()
	defer r.mu.Unlock()
	if k < len(r.proxies) {
		r.proxies[k] = d.addr
	} else {
		r.proxies = append(r.proxies, d.addr)
	}
	return d
}

// insert adds rows through the proxies until ctx ends. What fails is tried again through another.
func (r *countedRig) insert(ctx context.Context, client int) {
	for n := client; ctx.Err() == nil; n++ {
		r.mu.Lock()
		addr := r.proxies[n%len(r.proxies)]
		r.mu.Unlock()
		db, err := sql.Open("mysql", "app:app@tcp("+addr+")/shop?timeout=2s&readTimeout=10s&interpolateParams="+fmt.Sprint(client%2 == 0))
		if err != nil {
			r.t.Error(err)
			return
		}
		db.SetMaxOpenConns(1)
		for i := 0; ctx.Err() == nil; i++ {
			rows := 1 + i%3
			text, args := "INSERT INTO orders (user_id) VALUES (?)", []any{n*7 + i}
			for k := 1; k < rows; k++ {
				text, args = text+", (?)", append(args, n+k)
			}
			result, err := db.Exec(text, args...)
			if err != nil {
				break
			}
			first, _ := result.LastInsertId()
			r.mu.Lock()
			for id := uint64(first); id < uint64(first)+uint64(rows); id++ {
				if other, twice := r.seen[id]; twice {
					r.t.Errorf("id %d was given to %s and to client %d", id, other, client)
				}
				r.seen[id] = fmt.Sprint("client ", client)
			}
			r.mu.Unlock()
			r.told.Add(int64(rows))
		}
		_ = db.Close()
	}
}

// goesOn waits until clients have got so many more ids.
func (r *countedRig) goesOn(ids int64) {
	r.t.Helper()
	want := r.told.Load() + ids
	mysqltest.WaitFor(r.t, "more ids", func() bool { return r.told.Load() >= want || r.t.Failed() })
}

// check looks for ids that two rows have, and for ids that a client was told of rows that are not there.
func (r *countedRig) check() {
	rows := map[uint64]string{}
	for k, s := range r.servers {
		db, err := s.DB("shop")
		if err != nil {
			r.t.Fatal(err)
		}
		for _, table := range []string{fmt.Sprintf("orders_000%d", 2*k), fmt.Sprintf("orders_000%d", 2*k+1)} {
			found, err := db.Query("SELECT id FROM " + table)
			if err != nil {
				r.t.Fatal(err)
			}
			for found.Next() {
				var id uint64
				if err := found.Scan(&id); err != nil {
					r.t.Fatal(err)
				}
				if other, twice := rows[id]; twice {
					r.t.Errorf("id %d is in %s and in %s", id, other, table)
				}
				rows[id] = table
			}
			if err := found.Err(); err != nil {
				r.t.Fatal(err)
			}
		}
		db.Close()
	}
	for id := range r.seen {
		if rows[id] == "" {
			r.t.Errorf("id %d of a row that was inserted is not there", id)
		}
	}
	r.t.Logf("%d ids told, %d rows", len(r.seen), len(rows))
}

// No id is handed out twice while proxies, and the server that keeps the sequence, are killed.
func TestNoIDTwiceThroughKills(t *testing.T) {
	r := startCounted(t, mysqltest.MariaDB)
	daemons := []*daemon{r.proxy(0), r.proxy(1), r.proxy(2)}
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for client := range 12 {
		clients.Go(func() { r.insert(ctx, client) })
	}
	for round := range 4 {
		r.goesOn(400)
		k := round % len(daemons)
		_ = syscall.Kill(daemons[k].pids[0], syscall.SIGKILL)
		daemons[k] = r.proxy(k)
		r.goesOn(400)
		if round%2 == 0 {
			r.servers[round/2].Kill()
			restart, end := context.WithTimeout(t.Context(), 2*time.Minute)
			err := r.servers[round/2].Restart(restart)
			end()
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	r.goesOn(1500)
	cancel()
	clients.Wait()
	r.check()
}
