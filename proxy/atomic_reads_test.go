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

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// readsRig is a table over three servers whose accounts writers move amounts between, through two proxies. Accounts are of three groups: of the first one
// amounts are moved between the first two nodes; of the second between any two; of the third between the last two, in transactions that the first node
// decides, which nobody asks who reads the third group.
type readsRig struct {
	t       *testing.T
	servers [3]*mysqltest.RealServer
	config  string
	binary  string
	proxies [2]*daemon // readers go through the first one, writers through both
	mu      sync.Mutex // guards the second, and failed
	failed  error      // of the last transfer that was not carried out
}

const (
	readGroups = 3
	ofGroup    = 5   // accounts of a group on each node
	balance    = 100 // of each at the beginning
)

// account is the id of the k-th account of a group on a node.
func account(group, k, node int) int { return 3*(group*ofGroup+k) + node }

// nodesRead are those that have a group's amounts.
func nodesRead(group int) []int { return [readGroups][]int{{0, 1}, {0, 1, 2}, {1, 2}}[group] }

// accounts lists the accounts of a group that have its amounts.
func accounts(group int) string {
	var ids []string
	for _, node := range nodesRead(group) {
		for k := range ofGroup {
			ids = append(ids, fmt.Sprint(account(group, k, node)))
		}
	}
	return strings.Join(ids, ", ")
}

// total is what they have together.
func total(group int) int { return balance * ofGroup * len(nodesRead(group)) }

func startReads(t *testing.T, kind mysqltest.Kind) *readsRig {
	r := &readsRig{t: t, binary: buildBinary(t)}
	nodes := ""
	for k := range r.servers {
		s := startOwn(t, mysqltest.ServerConfig{Kind: kind, Settings: map[string]string{"innodb-buffer-pool-size": "32M"}})
		t.Cleanup(s.Kill)
		r.servers[k] = s
		c := dial(t, s.Addr, rootClient())
		for _, sql := range []string{"CREATE DATABASE shop", "USE shop", fmt.Sprintf("CREATE TABLE t_000%d (id INT PRIMARY KEY, v INT NOT NULL)", k)} {
			must(t, c, sql)
		}
		for group := range readGroups {
			for n := range ofGroup {
				must(t, c, fmt.Sprintf("INSERT INTO t_000%d VALUES (%d, %d)", k, account(group, n, k), balance))
			}
		}
		nodes += fmt.Sprintf("  - {name: n%d, max_conns_limit: 60, allow_public_key_retrieval: true, user: root, password: root, master: \"%s\"}\n", k, s.Addr)
	}
	r.config = `
addr: 127.0.0.1:0
transaction_mode: atomic
xa_on_unsafe_server: true
health_interval: 200ms
user_list: [{user: app, password: app, rights: admin}]
nodes:
` + nodes + `
schema_list:
  - user: app
    nodes: [n0, n1, n2]
    default: n0
    shard: [{db: shop, table: t, key: id, nodes: [n0, n1, n2], type: hash, locations: [1, 1, 1]}]
`
	for k := range r.proxies {
		r.proxies[k] = startDaemon(t, r.binary, r.config)
	}
	return r
}

// session opens one through a proxy, and says SET.
func (r *readsRig) session(ctx context.Context, proxy int, set string) (c *sql.Conn, end func(), err error) {
	r.mu.Lock()
	addr := r.proxies[proxy].addr
	r.mu.Unlock()
	config := driver.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "app", "app", "tcp", addr, "shop"
	config.Timeout, config.ReadTimeout, config.Logger = 2*time.Second, time.Minute, &driver.NopLogger{}
	connector, err := driver.NewConnector(config)
	if err != nil {
		return nil, nil, err
	}
	db := sql.OpenDB(connector)
	if c, err = db.Conn(ctx); err != nil {
		db.Close()
		return nil, nil, err
	}
	end = func() { c.Close(); db.Close() }
	if _, err = c.ExecContext(ctx, set); err != nil {
		end()
	}
	return c, end, err
}

// move moves amounts until the context ends. A proxy that is killed is left for the one that takes its place.
func (r *readsRig) move(ctx context.Context, proxy int, moved *atomic.Int64) {
	for ctx.Err() == nil {
		c, end, err := r.session(ctx, proxy, "SET NAMES utf8mb4")
		opened := err == nil
		for err == nil && ctx.Err() == nil {
			group := rand.IntN(readGroups)
			nodes := nodesRead(group)
			from := rand.IntN(len(nodes))
			to := (from + 1 + rand.IntN(len(nodes)-1)) % len(nodes)
			amount := 1 + rand.IntN(50)
			statements := []string{
				fmt.Sprintf("UPDATE t SET v = v - %d WHERE id = %d", amount, account(group, rand.IntN(ofGroup), nodes[from])),
				fmt.Sprintf("UPDATE t SET v = v + %d WHERE id = %d", amount, account(group, rand.IntN(ofGroup), nodes[to])),
			}
			if group == 2 {
				statements = append([]string{fmt.Sprintf("UPDATE t SET v = v + 1 WHERE id = %d", account(2, rand.IntN(ofGroup), 0))}, statements...)
			}
			if err = inTransaction(ctx, c, statements); err == nil {
				moved.Add(1)
			} else if gaveWay(err) {
				err = nil
			}
			time.Sleep(time.Duration(20+rand.IntN(20)) * time.Millisecond)
		}
		if opened {
			end()
		}
		r.mu.Lock()
		r.failed = err
		r.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
	}
}

func inTransaction(ctx context.Context, c *sql.Conn, statements []string) error {
	for _, sql := range append(append([]string{"BEGIN"}, statements...), "COMMIT") {
		if _, err := c.ExecContext(ctx, sql); err != nil {
			_, _ = c.ExecContext(ctx, "ROLLBACK")
			return err
		}
	}
	return nil
}

// gaveWay reports whether an error says that the transaction is to be repeated.
func gaveWay(err error) bool {
	var heard *driver.MySQLError
	return errors.As(err, &heard) && heard.Number == mysql.ERLockDeadlock
}

// readsTally counts what came of reads.
type readsTally struct{ whole, torn, gaveUp atomic.Int64 }

func (y *readsTally) of(sum, want int, err error) error {
	switch {
	case err != nil && gaveWay(err):
		y.gaveUp.Add(1)
		return nil
	case err != nil:
		return err
	case sum != want:
		y.torn.Add(1)
	default:
		y.whole.Add(1)
	}
	return nil
}

func (y *readsTally) n() int64 { return y.whole.Load() + y.torn.Load() + y.gaveUp.Load() }

// readForms are the ways to read the sum of a group.
var readForms = []struct {
	name string
	read func(ctx context.Context, c *sql.Conn, group int) (int, error)
}{
	{"text", func(ctx context.Context, c *sql.Conn, group int) (sum int, err error) {
		err = c.QueryRowContext(ctx, "SELECT SUM(v) FROM t WHERE id IN ("+accounts(group)+")").Scan(&sum)
		return sum, err
	}},
	{"prepared", func(ctx context.Context, c *sql.Conn, group int) (sum int, err error) {
		err = c.QueryRowContext(ctx, "SELECT SUM(v) FROM t WHERE id > ? AND id IN ("+accounts(group)+")", -1).Scan(&sum)
		return sum, err
	}},
	{"collected", func(ctx context.Context, c *sql.Conn, group int) (sum int, err error) {
		err = c.QueryRowContext(ctx, "SELECT SUM(v) FROM (SELECT v FROM t WHERE id IN ("+accounts(group)+") UNION ALL SELECT 0) u").Scan(&sum)
		return sum, err
	}},
	{"in a transaction", func(ctx context.Context, c *sql.Conn, group int) (sum int, err error) {
		if _, err = c.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"); err != nil {
			return 0, err
		}
		for _, node := range nodesRead(group) {
			for k := 0; k < ofGroup && err == nil; k++ {
				var v int
				err = c.QueryRowContext(ctx, fmt.Sprintf("SELECT v FROM t WHERE id = %d", account(group, k, node))).Scan(&v)
				sum += v
			}
		}
		_, end := c.ExecContext(ctx, "COMMIT")
		return sum, errors.Join(err, end)
	}},
	{"in a transaction that may change rows", func(ctx context.Context, c *sql.Conn, group int) (sum int, err error) {
		if _, err = c.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT"); err != nil {
			return 0, err
		}
		err = c.QueryRowContext(ctx, "SELECT SUM(v) FROM t WHERE id IN ("+accounts(group)+")").Scan(&sum)
		_, end := c.ExecContext(ctx, "COMMIT")
		return sum, errors.Join(err, end)
	}},
}

// Reads at one moment see no transfer in part, of two nodes and of three, of nodes that do not decide, in any form, also while a proxy is killed; plain reads
// beside them do. With KS_ALL there are 20,000 of them.
func TestAtomicReads(t *testing.T) {
	wanted, kills := int64(400), 0
	if os.Getenv("KS_ALL") != "" {
		wanted, kills = 20_000, 10
	}
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			r := startReads(t, kind)
			ctx, cancel := context.WithCancel(t.Context())
			var load, reading sync.WaitGroup
			defer load.Wait()
			defer cancel()
			var moved atomic.Int64
			for k := range 4 {
				load.Go(func() { r.move(ctx, k%2, &moved) })
			}
			defer func() {
				if t.Failed() {
					r.mu.Lock()
					defer r.mu.Unlock()
					t.Logf("%d transfers, the last that failed: %v", moved.Load(), r.failed)
				}
			}()
			mysqltest.WaitFor(t, "transfers", func() bool { return moved.Load() > 20 })
			began := time.Now()
			var whole, plain readsTally
			tallies := make([]readsTally, len(readForms))
			read := func(consistency string, forms int, done func() bool, note func(form, sum, want int, err error) error) {
				c, end, err := r.session(ctx, 0, "SET ks_read_consistency = "+consistency)
				if err != nil {
					t.Error(err)
					return
				}
				defer end()
				for n := 0; !done(); n++ {
					form, group := n%forms, rand.IntN(readGroups)
					sum, err := readForms[form].read(ctx, c, group)
					if err := note(form, sum, total(group), err); err != nil {
						t.Errorf("read_consistency %s, %s: %v", consistency, readForms[form].name, err)
						return
					}
				}
			}
			enough := func() bool { return whole.n() >= wanted }
			for range 4 {
				reading.Go(func() {
					read("atomic", len(readForms), enough, func(form, sum, want int, err error) error {
						_ = tallies[form].of(sum, want, err)
						return whole.of(sum, want, err)
					})
				})
			}
			reading.Go(func() {
				// Without those that collect rows, which lock what they read on the node where they end.
				read("node", 2, func() bool { return enough() && (plain.torn.Load() > 0 || plain.n() > 20*wanted) }, func(_, sum, want int, err error) error {
					return plain.of(sum, want, err)
				})
			})
			for k := range kills {
				for whole.n() < wanted*int64(k+1)/int64(kills+1) && !t.Failed() {
					time.Sleep(10 * time.Millisecond)
				}
				_ = syscall.Kill(r.proxies[1].pids[0], syscall.SIGKILL)
				d := startDaemon(t, r.binary, r.config)
				r.mu.Lock()
				r.proxies[1] = d
				r.mu.Unlock()
			}
			reading.Wait()
			retries := r.proxies[0].metric("kingshard_atomic_read_retries_total")
			t.Logf("%d reads at one moment in %v beside %d transfers, %d kills: %d torn, %d gave up, %d taken anew; of %d plain ones %d torn", whole.n(), time.Since(began).Round(time.Second/10), moved.Load(), kills,
				whole.torn.Load(), whole.gaveUp.Load(), retries, plain.n(), plain.torn.Load())
			for k := range tallies {
				t.Logf("%s: %d, %d torn, %d gave up", readForms[k].name, tallies[k].n(), tallies[k].torn.Load(), tallies[k].gaveUp.Load())
			}
			if whole.torn.Load() > 0 || whole.gaveUp.Load()*100 > whole.n() {
				t.Error("parts of transfers were seen, or too many reads gave up")
			}
			if plain.torn.Load() == 0 {
				t.Error("no plain read has seen a part of a transfer: there was nothing to see")
			}
		})
	}
}
