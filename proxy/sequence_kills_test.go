package proxy_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kingshard/mysql/mysqltest"
)

// countedRig is a table of four sub-tables on two servers, whose ids are not its sharding key, behind several proxies. The first server keeps the
// sequence, and has a replica.
type countedRig struct {
	t       *testing.T
	servers [2]*mysqltest.RealServer
	replica *mysqltest.RealServer
	binary  string

	mu      sync.Mutex
	proxies []string       // addresses
	seen    map[uint64]int // the user_id of each id that a client was told
	told    atomic.Int64
}

func startCounted(t *testing.T, kind mysqltest.Kind) *countedRig {
	r := &countedRig{t: t, binary: buildBinary(t), seen: map[uint64]int{}}
	for k := range r.servers {
		s := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: k + 1})
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
	r.replica = startOwn(t, mysqltest.ServerConfig{Kind: kind, ReplicaOf: r.servers[0], ServerID: 3})
	return r
}

// config is the proxies'.
func (r *countedRig) config() string {
	return fmt.Sprintf(`
addr: 127.0.0.1:0
health_interval: 200ms
connect_timeout: 2s
pool_wait_timeout: 5s
user_list: [{user: app, password: app, rights: admin}]
nodes:
  - {name: n1, max_conns_limit: 40, user: root, password: root, master: "%s"}
  - {name: n2, max_conns_limit: 40, user: root, password: root, master: "%s"}
schema_list:
  - {user: app, nodes: [n1, n2], default: n1, shard: [{db: shop, table: orders, key: user_id, nodes: [n1, n2], type: hash, locations: [2, 2]}]}
`, r.servers[0].Addr, r.servers[1].Addr)
}

// proxy starts a further one, in the place of that with the number k, or of none.
func (r *countedRig) proxy(k int) *daemon {
	d := startDaemon(r.t, r.binary, r.config())
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
				text, args = text+", (?)", append(args, n*7+i+k)
			}
			result, err := db.Exec(text, args...)
			if err != nil {
				break
			}
			first, _ := result.LastInsertId()
			r.mu.Lock()
			for k, user := range args {
				id := uint64(first) + uint64(k)
				if other, twice := r.seen[id]; twice {
					r.t.Errorf("id %d was given to the row of user %v and to that of user %d", id, user, other)
				}
				r.seen[id] = user.(int)
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
	for end := r.told.Load() + ids; r.told.Load() < end; {
		want := min(r.told.Load()+400, end)
		mysqltest.WaitFor(r.t, "more ids", func() bool { return r.told.Load() >= want || r.t.Failed() })
		if r.t.Failed() {
			r.t.FailNow()
		}
	}
}

// failOver has the replica, which does not have the last changes, take the place of the first server.
func (r *countedRig) failOver() {
	r.t.Helper()
	promoted := dial(r.t, r.replica.Addr, rootClient())
	stop := "STOP REPLICA"
	if r.replica.Kind == mysqltest.MariaDB {
		stop = "STOP SLAVE"
	}
	must(r.t, promoted, stop)
	r.goesOn(3000)
	r.servers[0].Kill()
	must(r.t, promoted, "SET GLOBAL read_only = 0")
	r.mu.Lock()
	r.servers[0] = r.replica
	proxies := slices.Clone(r.proxies)
	r.mu.Unlock()
	for _, addr := range proxies {
		must(r.t, dial(r.t, addr, mysqltest.ClientConfig{User: "app", Password: "app"}), "KS NODE n1 SET PRIMARY '"+r.replica.Addr+"'")
	}
}

// blocks asks all proxies how many blocks they have reserved, and how many ids they have drawn.
func (r *countedRig) blocks() (blocks, drawn int) {
	r.t.Helper()
	for _, addr := range r.proxies {
		list, err := dial(r.t, addr, mysqltest.ClientConfig{User: "app", Password: "app"}).Query("SHOW KS SEQUENCES")
		if err != nil {
			r.t.Fatal(err)
		}
		for _, row := range list.Rows {
			for k, name := range list.Names() {
				n, _ := strconv.Atoi(fmt.Sprintf("%s", row[k]))
				switch name {
				case "blocks":
					blocks += n
				case "drawn":
					drawn += n
				}
			}
		}
	}
	return blocks, drawn
}

// check looks for ids that two rows have, and for ids that a client was told of rows that are not there; those of users on the first server may be
// missing where a fail-over has lost them.
func (r *countedRig) check(lost bool) {
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
	missing := 0
	for id, user := range r.seen {
		if rows[id] == "" && (!lost || user%4 >= 2) {
			r.t.Errorf("id %d of a row that was inserted is not there", id)
		} else if rows[id] == "" {
			missing++
		}
	}
	r.t.Logf("%d ids told, %d rows, %d lost by the fail-over", len(r.seen), len(rows), missing)
}

// No id is handed out twice while proxies, and the server that keeps the sequence, are killed, and while a replica that lacks the last blocks takes its
// place: to 12 clients of 3 proxies, or by KS_ALL=1 a million to 64 clients of each of 4.
func TestNoIDTwiceThroughKills(t *testing.T) {
	proxies, clients, ids := 3, 12, int64(5000)
	if os.Getenv("KS_ALL") != "" {
		proxies, clients, ids = 4, 4*64, 1_000_000
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startCounted(t, kind)
			daemons := make([]*daemon, proxies)
			for k := range daemons {
				daemons[k] = r.proxy(k)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var load sync.WaitGroup
			defer load.Wait()
			defer cancel()
			for client := range clients {
				load.Go(func() { r.insert(ctx, client) })
			}
			const rounds = 4
			for round := range rounds {
				r.goesOn(ids / 2 / rounds)
				blocks, drawn := r.blocks()
				t.Logf("%d ids drawn from %d blocks", drawn, blocks)
				k := round % proxies
				_ = syscall.Kill(daemons[k].pids[0], syscall.SIGKILL)
				daemons[k] = r.proxy(k)
				r.goesOn(400)
				if round%2 == 0 {
					r.servers[0].Kill()
					restart, end := context.WithTimeout(t.Context(), 2*time.Minute)
					err := r.servers[0].Restart(restart)
					end()
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			r.failOver()
			r.goesOn(max(ids-r.told.Load(), ids/4))
			cancel()
			load.Wait()
			blocks, drawn := r.blocks()
			t.Logf("%d ids drawn from %d blocks", drawn, blocks)
			r.check(true)
		})
	}
}
