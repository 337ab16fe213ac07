package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
	"kingshard/proxy/txn/history"
)

// listsRig has lists, one a row, on three servers: those of lists2 are on two of them.
type listsRig struct {
	t       *testing.T
	servers [3]*mysqltest.RealServer
	binary  string
	keys    int // of each table
	// next is the value that is appended next, first the key that a run begins with.
	next  atomic.Int64
	first int
}

// Of a run, listsAtOnce keys are used at a time, and each listLength times as a rule.
const (
	listsAtOnce = 12
	listLength  = 25
)

func startLists(t *testing.T, kind mysqltest.Kind, keys int) *listsRig {
	r := &listsRig{t: t, binary: buildBinary(t), keys: keys}
	var starting sync.WaitGroup
	for k := range r.servers {
		starting.Go(func() {
			r.servers[k] = startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: k + 1, Settings: map[string]string{
				"innodb-lock-wait-timeout": "1", "innodb-buffer-pool-size": "32M", "innodb-flush-log-at-trx-commit": "1", "sync-binlog": "1",
			}})
			t.Cleanup(r.servers[k].Kill)
		})
	}
	starting.Wait()
	for _, s := range r.servers {
		must(t, dial(t, s.Addr, rootClient()), "CREATE DATABASE shop")
	}
	d := r.proxy()
	c := dial(t, d.addr, listsClient())
	for _, table := range []string{"lists2", "lists3"} {
		must(t, c, "CREATE TABLE "+table+" (k INT PRIMARY KEY, v VARCHAR(4000) NOT NULL)")
		rows := make([]string, keys)
		for k := range rows {
			rows[k] = fmt.Sprintf("(%d, '')", k)
		}
		must(t, c, "INSERT INTO "+table+" (k, v) VALUES "+strings.Join(rows, ", "))
	}
	c.Close()
	return r
}

// listsClient is a client whose answers may take as long as the outcome of a transaction may be unknown, and longer.
func listsClient() mysqltest.ClientConfig {
	return mysqltest.ClientConfig{User: "app", Password: "app", DB: "shop", Timeout: time.Minute}
}

// proxy starts one.
func (r *listsRig) proxy() *daemon {
	text := `
addr: 127.0.0.1:0
transaction_mode: atomic
user_list: [{user: app, password: app, rights: admin}]
schema_list:
  - user: app
    nodes: [n1, n2, n3]
    default: n1
    shard:
      - {db: shop, table: lists2, key: k, nodes: [n1, n2], type: hash, locations: [1, 1]}
      - {db: shop, table: lists3, key: k, nodes: [n1, n2, n3], type: hash, locations: [1, 1, 1]}
nodes:
`
	for k, s := range r.servers {
		text += fmt.Sprintf("  - {name: n%d, max_conns_limit: 60, allow_public_key_retrieval: true, user: root, password: root, master: \"%s\"}\n", k+1, s.Addr)
	}
	return startDaemon(r.t, r.binary, text)
}

// listsLevel is how transactions read, and which anomalies that allows.
type listsLevel struct {
	name, set, locks string
	allowed          map[history.Kind]bool
}

var listsLevels = []listsLevel{
	{"locking reads", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", " FOR UPDATE", nil},
	{"serializable", "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "", nil},
	// Each node has its own snapshot, of its own moment, and an UPDATE changes what is there by then.
	{"repeatable read", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "", map[history.Kind]bool{history.GSingle: true, history.G2: true, history.RealTime: true}},
}

// listsRun is a run of clients until the keys of a table are used up, or the context ends.
type listsRun struct {
	*listsRig
	table string
	level listsLevel
	began time.Time
	keys  [2]int // the first one, and that behind the last one
	done  atomic.Int64

	mu  sync.Mutex
	all []*history.Transaction
}

// run begins one over as many keys of a table. No two runs of a table have keys in common.
func (r *listsRig) run(table string, level listsLevel, keys int) *listsRun {
	run := &listsRun{listsRig: r, table: table, level: level, began: time.Now(), keys: [2]int{r.first, r.first + keys}}
	if r.first += keys; r.first > r.keys {
		r.t.Fatalf("%d keys are too few", r.keys)
	}
	return run
}

// over reports whether all keys are used up.
func (run *listsRun) over() bool {
	return int(run.done.Load()) >= (run.keys[1]-run.keys[0]-listsAtOnce)*listLength
}

// window is the first of the keys that are used now.
func (run *listsRun) window() int {
	return min(run.keys[0]+int(run.done.Load())/listLength, run.keys[1]-listsAtOnce)
}

// client runs transactions, one behind the other, through the proxy that addr names. When that has gone it takes the next one.
func (run *listsRun) client(ctx context.Context, id int, addr func() string) {
	dice := rand.New(rand.NewPCG(uint64(id), uint64(run.began.UnixNano())))
	var c *mysqltest.RawClient
	defer func() {
		if c != nil {
			c.Close()
		}
	}()
	for !run.over() && ctx.Err() == nil {
		if c == nil {
			var err error
			if c, err = mysqltest.DialRaw(addr(), listsClient()); err != nil {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			if _, err := c.Exec(run.level.set); err != nil {
				c.Close()
				c = nil
				continue
			}
		}
		t := &history.Transaction{Client: id, Began: time.Since(run.began)}
		err := run.transaction(c, dice, t)
		t.Ended = time.Since(run.began)
		run.mu.Lock()
		run.all = append(run.all, t)
		run.mu.Unlock()
		if refused, ok := errors.AsType[*mysql.SQLError](err); err != nil && !ok || ok && refused.Code == kserror.BackendLost {
			c.Close()
			c = nil
		}
	}
}

// transaction runs one, and writes down what it did, saw and heard.
func (run *listsRun) transaction(c *mysqltest.RawClient, dice *rand.Rand, t *history.Transaction) error {
	t.Outcome = history.RolledBack // as nothing asks for a COMMIT yet
	if _, err := c.Exec("BEGIN"); err != nil {
		return err
	}
	for range 1 + dice.IntN(4) {
		op := history.Op{Key: run.window() + dice.IntN(listsAtOnce)}
		if dice.IntN(2) == 0 {
			op.Append = int(run.next.Add(1))
			t.Ops = append(t.Ops, op)
			run.done.Add(1)
			r, err := c.Exec(fmt.Sprintf("UPDATE %s SET v = CONCAT(v, ',', %d) WHERE k = %d", run.table, op.Append, op.Key))
			if err == nil && r.OK.AffectedRows != 1 {
				err = fmt.Errorf("%d rows changed", r.OK.AffectedRows)
				run.t.Error(err)
			}
			if err != nil {
				return run.undone(c, err)
			}
			continue
		}
		r, err := c.Exec(fmt.Sprintf("SELECT v FROM %s WHERE k = %d%s", run.table, op.Key, run.level.locks))
		if err != nil {
			return run.undone(c, err)
		}
		if len(r.Rows) != 1 {
			run.t.Errorf("list %d: %d rows", op.Key, len(r.Rows))
			return errors.New("no row")
		}
		op.Read = list(run.t, r.Rows[0][0].(string))
		t.Ops = append(t.Ops, op)
	}
	if dice.IntN(10) == 0 {
		_, err := c.Exec("ROLLBACK")
		return err
	}
	t.Outcome = history.Unknown
	_, err := c.Exec("COMMIT")
	refused, ok := errors.AsType[*mysql.SQLError](err)
	switch {
	case err == nil, ok && strings.HasPrefix(refused.Message, "All nodes keep the "):
		t.Outcome = history.Committed
	case ok && refused.Code != kserror.BackendLost && refused.Code != erServerShutdown:
		t.Outcome = history.RolledBack
	}
	return err
}

// undone ends a transaction with a statement that failed: of a lock that was not had in time it goes on. It returns why it failed.
func (run *listsRun) undone(c *mysqltest.RawClient, err error) error {
	refused, ok := errors.AsType[*mysql.SQLError](err)
	if !ok {
		return err
	}
	if refused.Code != mysql.ERLockDeadlock && refused.Code != erLockWaitTimeout && refused.Code != kserror.BackendLost && refused.Code != kserror.NotCarriedOut {
		run.t.Errorf("%v", err)
	}
	if _, failed := c.Exec("ROLLBACK"); failed != nil {
		return failed
	}
	return err
}

// The codes of a lock that was not had in time, and of a server that goes away.
const (
	erLockWaitTimeout = 1205
	erServerShutdown  = 1053
)

// list returns the values of a list's text.
func list(t *testing.T, text string) (values []int) {
	for word := range strings.SplitSeq(strings.TrimPrefix(text, ","), ",") {
		if word == "" {
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Errorf("list %q", text)
		}
		values = append(values, n)
	}
	return values
}

// check settles what is left, reports what the history of a run should not have, and returns how many transactions had each outcome.
func (run *listsRun) check() (ends [3]int) {
	t := run.t
	t.Helper()
	for _, s := range run.servers {
		noTransactions(t, s)
	}
	h := history.History{Transactions: run.all, Final: map[int][]int{}}
	for _, s := range run.servers {
		c := dial(t, s.Addr, rootClient())
		for _, name := range must(t, c, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME LIKE '"+run.table+"%'").Rows {
			rows := must(t, c, fmt.Sprintf("SELECT k, v FROM shop.%s WHERE k >= %d AND k < %d", name[0], run.keys[0], run.keys[1])).Rows
			for _, row := range rows {
				k, err := strconv.Atoi(row[0].(string))
				if err != nil {
					t.Fatal(err)
				}
				h.Final[k] = list(t, row[1].(string))
			}
		}
		c.Close()
	}
	if len(h.Final) != run.keys[1]-run.keys[0] {
		t.Fatalf("%d lists of %d", len(h.Final), run.keys[1]-run.keys[0])
	}
	ops := 0
	for _, one := range run.all {
		ends[one.Outcome]++
		ops += len(one.Ops)
	}
	found, counts := h.Check(), map[history.Kind]int{}
	for _, a := range found {
		if counts[a.Kind]++; !run.level.allowed[a.Kind] && counts[a.Kind] <= 3 {
			t.Error(a)
		}
	}
	t.Logf("%s, %s: %.1f s, %d transactions with %d reads and appends, %d committed, %d rolled back, %d unknown; anomalies %v",
		run.table, run.level.name, time.Since(run.began).Seconds(), len(run.all), ops, ends[history.Committed], ends[history.RolledBack], ends[history.Unknown], counts)
	if len(found) == 0 && ends[history.Committed] == 0 {
		t.Error("nothing was committed")
	}
	return ends
}
