package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"kingshard/mysql/mysqltest"
)

// racedRig is a table over two servers with a key that is unique over both, behind two proxies.
type racedRig struct {
	t       *testing.T
	servers [2]*mysqltest.RealServer
	binary  string

	mu      sync.Mutex
	proxies [2]*daemon
	done    atomic.Int64 // statements that were carried out
	refused atomic.Int64 // with 1062
	nextID  atomic.Int64
}

func startRaced(t *testing.T, kind mysqltest.Kind) *racedRig {
	r := &racedRig{t: t, binary: buildBinary(t)}
	for k := range r.servers {
		s := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: k + 1, Settings: wholeSettings(kind)})
		t.Cleanup(s.Kill)
		r.servers[k] = s
		must(t, dial(t, s.Addr, rootClient()), "CREATE DATABASE shop")
	}
	for k := range r.proxies {
		r.start(k)
	}
	c := dial(t, r.proxies[0].addr, mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
	must(t, c, "CREATE TABLE users (id BIGINT PRIMARY KEY, email VARCHAR(40) COLLATE utf8mb4_general_ci, team INT, UNIQUE KEY email (email)) DEFAULT CHARSET utf8mb4")
	return r
}

// start starts the proxy with the number k.
func (r *racedRig) start(k int) {
	d := startDaemon(r.t, r.binary, strings.Replace(wholeConfig(r.servers[0].Addr, r.servers[1].Addr), "{db: shop, table: t, ",
		"{db: shop, table: users, unique: [{columns: email, strings: utf8mb4_general_ci_v1}], lookup: [team], ", 1))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proxies[k] = d
}

// change changes rows of values that all clients want until ctx ends.
func (r *racedRig) change(ctx context.Context, client, values int) {
	dice := rand.New(rand.NewPCG(uint64(client), 7))
	for ctx.Err() == nil {
		r.mu.Lock()
		addr := r.proxies[client%2].addr
		r.mu.Unlock()
		db, err := sql.Open("mysql", "app:app@tcp("+addr+")/shop?timeout=2s&readTimeout=30s")
		if err != nil {
			r.t.Error(err)
			return
		}
		db.SetMaxOpenConns(1)
		for ctx.Err() == nil {
			err := r.statement(ctx, db, dice, values)
			if err == nil {
				r.done.Add(1)
				continue
			}
			refused, ok := errors.AsType[*driver.MySQLError](err)
			if !ok {
				break // another connection
			}
			if refused.Number == 1062 {
				r.refused.Add(1)
			}
		}
		_ = db.Close()
	}
}

// statement carries out one at random.
func (r *racedRig) statement(ctx context.Context, db *sql.DB, dice *rand.Rand, values int) error {
	email := func() string { return fmt.Sprintf([]string{"v%d", "V%d"}[dice.IntN(2)], dice.IntN(values)) }
	id := r.nextID.Add(1)
	var err error
	switch dice.IntN(8) {
	case 0, 1, 2:
		_, err = db.ExecContext(ctx, "INSERT INTO users (id, email, team) VALUES (?, ?, ?)", id, email(), dice.IntN(5))
	case 3:
		_, err = db.ExecContext(ctx, "UPDATE users SET email = ?, team = team + 1 WHERE email = ?", email(), email())
	case 4:
		_, err = db.ExecContext(ctx, "UPDATE users SET id = ? WHERE email = ?", id, email())
	case 5:
		_, err = db.ExecContext(ctx, "REPLACE INTO users (id, email, team) VALUES (?, ?, ?)", id, email(), dice.IntN(5))
	case 6:
		_, err = db.ExecContext(ctx, "INSERT INTO users (id, email, team) VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE team = team + 1", id, email())
	default:
		_, err = db.ExecContext(ctx, "DELETE FROM users WHERE email = ?", email())
	}
	return err
}

// rows reads a table of both servers, sorted by the servers.
func (r *racedRig) rows(tables, columns string) (rows []string) {
	for k, s := range r.servers {
		c := dial(r.t, s.Addr, rootClient())
		for _, row := range must(r.t, c, fmt.Sprintf("SELECT %s FROM shop.%s_%04d", columns, tables, k)).Rows {
			rows = append(rows, fmt.Sprint(row...))
		}
	}
	return rows
}

// check wants no value twice, an entry for each row and a row for each entry, as KS INDEX VERIFY is to find it, too.
func (r *racedRig) check() {
	r.t.Helper()
	compare := func(what string, rows, entries []string) {
		r.t.Helper()
		count := map[string]int{}
		for _, row := range rows {
			count[row]++
		}
		for _, e := range entries {
			count[e]--
		}
		for row, n := range count {
			if n != 0 {
				r.t.Errorf("%s: %q is there %d times more in rows than in entries", what, row, n)
			}
		}
	}
	values := map[string]bool{}
	for _, v := range r.rows("users", "LOWER(email)") {
		if values[v] {
			r.t.Errorf("%s is there twice", v)
		}
		values[v] = true
	}
	if len(values) == 0 {
		r.t.Error("no rows are left")
	}
	compare("email", r.rows("users", "LOWER(email), ' ', id"), r.rows("ks_users_email", "LOWER(email), ' ', id"))
	compare("team", r.rows("users", "team, ' ', id, ' ', 1"), r.rows("ks_users_team", "team, ' ', id, ' ', ks_rows"))
	c := dial(r.t, r.proxies[0].addr, mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop"})
	for _, name := range []string{"email", "team"} {
		if found := must(r.t, c, "KS INDEX VERIFY shop.users "+name).Rows; len(found) != 1 || fmt.Sprint(found[0][5:8]) != "[0 0 0]" {
			r.t.Errorf("KS INDEX VERIFY %s finds %s", name, found)
		}
	}
}

// Clients of two proxies that want the same values of a unique key never have one of them twice, and each row has its entry and each entry its row, while
// proxies and servers are killed.
func TestUniqueThroughKills(t *testing.T) {
	clients, values, kills, between := 16, 100, 4, int64(150)
	if os.Getenv("KS_ALL") != "" {
		clients, values, kills, between = 64, 1000, 20, 800
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startRaced(t, kind)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var load sync.WaitGroup
			defer load.Wait()
			for n := range clients {
				load.Go(func() { r.change(ctx, n, values) })
			}
			for n := range kills {
				before := r.done.Load()
				mysqltest.WaitFor(t, "statements to be carried out", func() bool { return r.done.Load() > before+between })
				if n%2 == 0 {
					r.mu.Lock()
					d := r.proxies[n/2%2]
					r.mu.Unlock()
					_ = syscall.Kill(d.pids[0], syscall.SIGKILL)
					r.start(n / 2 % 2)
					continue
				}
				s := r.servers[n/2%2]
				s.Kill()
				restart, end := context.WithTimeout(t.Context(), 2*time.Minute)
				err := s.Restart(restart)
				end()
				if err != nil {
					t.Fatal(err)
				}
			}
			cancel()
			load.Wait()
			for _, s := range r.servers {
				noTransactions(t, s)
			}
			r.check()
			t.Logf("%d kills, %d statements carried out, %d refused as duplicates, %d rows left", kills, r.done.Load(), r.refused.Load(), len(r.rows("users", "id")))
		})
	}
}
