package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
)

// wholeRig is a table of two sub-tables on two servers and a reference table that both have. Each client has a row on each server, in the one or in the
// other, and every statement changes both to one and the same value, so that rows that differ are half a change. Servers write all down before they
// answer, as far as the machine does.
type wholeRig struct {
	t       *testing.T
	servers [2]*mysqltest.RealServer
	binary  string
	proxies []*daemon
	clients []*wholeClient
	doubts  int
}

// fillers are rows that no client changes, so that servers look for those of clients by the key and not through the table.
const fillers = 2000

// wholeSettings are of its servers.
func wholeSettings(kind mysqltest.Kind) map[string]string {
	all := map[string]string{"sync-binlog": "1", "innodb-flush-log-at-trx-commit": "1", "transaction-isolation": "READ-COMMITTED", "innodb-buffer-pool-size": "32M"}
	maps.Copy(all, semiSyncs[kind].settings)
	return all
}

// startWhole starts one; more are settings of the servers.
func startWhole(t *testing.T, kind mysqltest.Kind, more ...map[string]string) *wholeRig {
	r := &wholeRig{t: t, binary: buildBinary(t)}
	settings := wholeSettings(kind)
	for _, m := range more {
		maps.Copy(settings, m)
	}
	for k := range r.servers {
		s := startOwn(t, mysqltest.ServerConfig{Kind: kind, Binlog: true, ServerID: k + 1, Settings: settings})
		t.Cleanup(s.Kill) // in order it may take long, and nobody looks at its data any more
		r.servers[k] = s
		c := dial(t, s.Addr, rootClient())
		for _, statement := range []string{
			"CREATE DATABASE shop", "USE shop", fmt.Sprintf("CREATE TABLE t_000%d (id INT PRIMARY KEY, client INT NOT NULL, v INT NOT NULL)", k),
			"CREATE TABLE r (client INT PRIMARY KEY, v INT NOT NULL)",
		} {
			must(t, c, statement)
		}
		rows, refs := make([]string, fillers), make([]string, fillers)
		for n := range rows {
			rows[n], refs[n] = fmt.Sprintf("(%d, 0, 0)", -2*n-2+k), fmt.Sprintf("(%d, 0)", -n-1)
		}
		must(t, c, fmt.Sprintf("INSERT INTO t_000%d VALUES ", k)+strings.Join(rows, ", "))
		must(t, c, "INSERT INTO r VALUES "+strings.Join(refs, ", "))
		must(t, c, fmt.Sprintf("ANALYZE TABLE t_000%d, r", k))
	}
	return r
}

// proxy starts one.
func (r *wholeRig) proxy() *daemon {
	d := startDaemon(r.t, r.binary, wholeConfig(r.servers[0].Addr, r.servers[1].Addr))
	r.proxies = append(r.proxies, d)
	return d
}

// wholeConfig is a proxy's over two servers.
func wholeConfig(first, second string) string {
	return fmt.Sprintf(`
addr: 127.0.0.1:0
transaction_mode: atomic
health_interval: 200ms
connect_timeout: 2s
pool_wait_timeout: 5s
user_list: [{user: app, password: app, rights: admin, local_infile: true}, {user: ops, password: ops, rights: operate}]
nodes:
  - {name: n1, max_conns_limit: 60, allow_public_key_retrieval: true, user: root, password: root, master: "%s"}
  - {name: n2, max_conns_limit: 60, allow_public_key_retrieval: true, user: root, password: root, master: "%s"}
schema_list:
  - user: app
    nodes: [n1, n2]
    default: n1
    shard:
      - {db: shop, table: t, key: id, nodes: [n1, n2], type: hash, locations: [1, 1]}
      - {db: shop, table: r, type: reference, nodes: [n1, n2]}
  - {user: ops, nodes: [n1, n2], default: n1}
`, first, second)
}

// absent is the value of a client's rows that are not there, doubled of more than one on a server, and of one that lies wrong.
const (
	absent  = -1
	doubled = -2
)

// wholeProgram is what a client does over and over again.
type wholeProgram struct {
	name      string
	clients   int  // of each group
	reference bool // its rows are in r
	// next returns the kind of the next statement, its text and the value that the rows have by it; kept is the one that they have.
	next func(id, kept, value int) (kind, text string, becomes int)
}

// first inserts a client's rows, and then lets another statement go on.
func first(then func(id, value int) (kind, text string)) func(id, kept, value int) (string, string, int) {
	return func(id, kept, value int) (string, string, int) {
		if kept == absent {
			return "INSERT", fmt.Sprintf("INSERT INTO t (id, client, v) VALUES (%d, %d, %d), (%d, %[2]d, %[3]d)", 2*id, id, value, 2*id+1), value
		}
		kind, text := then(id, value)
		return kind, text, value
	}
}

// wholePrograms are of all kinds of statements that can change several nodes.
var wholePrograms = []*wholeProgram{
	{name: "UPDATE", clients: 2, next: first(func(id, value int) (string, string) {
		return "UPDATE", fmt.Sprintf("UPDATE t SET v = %d WHERE id IN (%d, %d)", value, 2*id, 2*id+1)
	})},
	{name: "UPDATE LIMIT", clients: 2, next: first(func(id, value int) (string, string) {
		return "UPDATE LIMIT", fmt.Sprintf("UPDATE t SET v = %d WHERE id IN (%d, %d) ORDER BY id LIMIT 2", value, 2*id, 2*id+1)
	})},
	{name: "move", clients: 4, next: first(func(id, value int) (string, string) { // the two rows change places
		limit := [...]string{"", " ORDER BY id LIMIT 2"}[value%2]
		return "move", fmt.Sprintf("UPDATE t SET id = %d - id, v = %d WHERE id IN (%d, %d)", 4*id+1, value, 2*id, 2*id+1) + limit
	})},
	{name: "REPLACE", clients: 2, next: first(func(id, value int) (string, string) {
		return "REPLACE", fmt.Sprintf("REPLACE INTO t (id, client, v) VALUES (%d, %d, %d), (%d, %[2]d, %[3]d)", 2*id, id, value, 2*id+1)
	})},
	{name: "LOAD DATA", clients: 2, next: first(func(id, value int) (string, string) {
		name := fmt.Sprintf("whole%d", id)
		driver.RegisterReaderHandler(name, func() io.Reader {
			return strings.NewReader(fmt.Sprintf("%d\t%d\t%d\n%d\t%[2]d\t%[3]d\n", 2*id, id, value, 2*id+1))
		})
		return "LOAD DATA", "LOAD DATA LOCAL INFILE 'Reader::" + name + "' REPLACE INTO TABLE t (id, client, v)"
	})},
	{name: "transaction", clients: 4, next: first(func(id, value int) (string, string) {
		return "transaction", fmt.Sprintf("UPDATE t SET v = %d WHERE id = %d; SELECT SUM(v) FROM t WHERE id IN (%[2]d, %d) FOR UPDATE; UPDATE t SET v = %[1]d WHERE id = %[3]d", value, 2*id+value%2, 2*id+1-value%2)
	})},
	{name: "INSERT and DELETE", clients: 8, next: func(id, kept, value int) (string, string, int) {
		if kept == absent {
			return first(nil)(id, kept, value)
		}
		return "DELETE", fmt.Sprintf("DELETE FROM t WHERE id IN (%d, %d)", 2*id, 2*id+1), absent
	}},
	{name: "reference", clients: 2, reference: true, next: func(id, kept, value int) (kind, text string, becomes int) {
		switch {
		case kept == absent:
			return "reference table", fmt.Sprintf("INSERT INTO r (client, v) VALUES (%d, %d)", id, value), value
		case value%3 == 0:
			return "reference table", fmt.Sprintf("REPLACE INTO r (client, v) VALUES (%d, %d)", id, value), value
		case value%3 == 1:
			return "reference table", fmt.Sprintf("UPDATE r SET v = %d WHERE client = %d", value, id), value
		}
		return "reference table", fmt.Sprintf("DELETE FROM r WHERE client = %d", id), absent
	}},
}

// wholeClient changes its rows until a kill has met it, and notes what it heard.
type wholeClient struct {
	id      int
	program *wholeProgram
	statements,
	kept int // the value of its rows by the last statement that it heard OK of
	// The last statement: its kind, the value that the rows have by it, whether nobody has said that it was kept or not, whether it was under way at
	// the kill, and the error.
	kind    string
	becomes int
	unknown bool
	met     bool
	err     error
}

// wholeGroup are the clients that one kill is to meet.
type wholeGroup struct {
	unready atomic.Int64
	killed  atomic.Bool
}

// group starts clients of all programs through the proxy at addr.
func (r *wholeRig) group(ctx context.Context, load *sync.WaitGroup, addr string, number int) *wholeGroup {
	g := &wholeGroup{}
	id := 100*number + 1
	for _, program := range wholePrograms {
		for range program.clients {
			c := &wholeClient{id: id, program: program, kept: absent}
			r.clients = append(r.clients, c)
			id++
			g.unready.Add(1)
			load.Go(func() { c.change(ctx, g, addr) })
		}
	}
	return g
}

// change changes the client's rows until the kill. What fails ahead of it, as a server is away yet, is tried again.
func (c *wholeClient) change(ctx context.Context, g *wholeGroup, addr string) {
	ready := sync.OnceFunc(func() { g.unready.Add(-1) })
	defer ready()
	config := driver.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "app", "app", "tcp", addr, "shop"
	config.Timeout, config.ReadTimeout, config.Logger = 2*time.Second, 60*time.Second, &driver.NopLogger{}
	connector, err := driver.NewConnector(config)
	if err != nil {
		panic(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for value := 1; ctx.Err() == nil && !g.killed.Load(); value++ {
		var text string
		c.kind, text, c.becomes = c.program.next(c.id, c.kept, value)
		c.err = carryOut(ctx, db, text)
		c.met = g.killed.Load()
		c.statements++
		var heard *driver.MySQLError
		switch {
		case c.err == nil || errors.As(c.err, &heard) && strings.HasPrefix(heard.Message, "All nodes keep the "):
			c.kept = c.becomes
			if value > 1 { // not only the rows' INSERT
				ready()
			}
		case heard == nil || heard.Number == kserror.BackendLost:
			c.unknown = true
			return
		default:
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// carryOut runs a statement, or several as one transaction.
func carryOut(ctx context.Context, db *sql.DB, text string) error {
	statements := strings.Split(text, "; ")
	if len(statements) == 1 {
		_, err := db.ExecContext(ctx, text)
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// countDoubt counts the branches that are prepared now.
func (r *wholeRig) countDoubt() {
	r.t.Helper()
	doubts := 0
	for _, s := range r.servers {
		doubts += len(must(r.t, dial(r.t, s.Addr, rootClient()), "XA RECOVER").Rows)
	}
	r.doubts = max(r.doubts, doubts)
}

// settled waits until no branch is prepared on any server, and no transaction is open there.
func (r *wholeRig) settled() {
	r.t.Helper()
	for _, s := range r.servers {
		noTransactions(r.t, s)
	}
}

// noTransactions waits until a server has no transaction, prepared or open.
func noTransactions(t *testing.T, s *mysqltest.RealServer) {
	t.Helper()
	c := dial(t, s.Addr, rootClient())
	defer c.Close()
	mysqltest.WaitFor(t, "nothing is prepared", func() bool { return len(must(t, c, "XA RECOVER").Rows) == 0 })
	// What reads without locks, as health checks do, comes and goes.
	const open = "SELECT trx_id, trx_started, trx_mysql_thread_id, trx_query, NOW() FROM information_schema.INNODB_TRX WHERE trx_rows_modified > 0 OR trx_rows_locked > 0 OR trx_started < NOW() - INTERVAL 5 SECOND"
	mysqltest.WaitFor(t, "transactions to end", func() bool {
		time.Sleep(150 * time.Millisecond) // asked again within a tenth of a second, a server says what it said before
		return len(must(t, c, open).Rows) == 0
	})
}

// faultless checks what clients changed against what they heard, and that no proxy asks for an operator.
func (r *wholeRig) faultless() {
	r.t.Helper()
	for _, fault := range r.check() {
		r.t.Error(fault)
	}
	for _, d := range r.proxies {
		if strings.Contains(d.log(), "needs an operator") {
			r.t.Errorf("an incident: %s", d.log())
		}
	}
}

// values reads what each server has of each client.
func (r *wholeRig) values() (values [2]map[int]int) {
	r.t.Helper()
	for k, s := range r.servers {
		values[k] = map[int]int{}
		db, err := s.DB("shop")
		if err != nil {
			r.t.Fatal(err)
		}
		defer db.Close()
		rows, err := db.Query(fmt.Sprintf("SELECT client, IF(COUNT(*) = 1 AND MIN(MOD(id, 2)) = %d, MIN(v), %d) FROM t_000%[1]d WHERE id > 0 GROUP BY client UNION ALL SELECT client, v FROM r WHERE client > 0", k, doubled))
		if err != nil {
			r.t.Fatal(err)
		}
		for rows.Next() {
			var client, v int
			if err := rows.Scan(&client, &v); err != nil {
				r.t.Fatal(err)
			}
			values[k][client] = v
		}
		if err := rows.Err(); err != nil {
			r.t.Fatal(err)
		}
	}
	return values
}

// check tells of clients whose rows on the two servers differ, or are not what they heard.
func (r *wholeRig) check() (faults []string) {
	r.t.Helper()
	values := r.values()
	for _, c := range r.clients {
		var has [2]int
		for k := range has {
			v, there := values[k][c.id]
			if has[k] = v; !there {
				has[k] = absent
			}
		}
		switch {
		case has[0] != has[1]:
			faults = append(faults, fmt.Sprintf("client %d of %s: half of %s to %d, %d and %d: %v", c.id, c.program.name, c.kind, c.becomes, has[0], has[1], c.err))
		case has[0] != c.kept && !(c.unknown && has[0] == c.becomes):
			faults = append(faults, fmt.Sprintf("client %d of %s was told %d and has %d, the last %s to %d: %v", c.id, c.program.name, c.kept, has[0], c.kind, c.becomes, c.err))
		}
	}
	return faults
}

// figures tells of each kind of statement how many kills met one at least, how many were met, and what came of them.
func (r *wholeRig) figures() string {
	type figure struct {
		kills                            map[int]bool
		met, told, refused, kept, undone int
	}
	values := r.values()
	all := map[string]*figure{}
	statements := 0
	for _, c := range r.clients {
		statements += c.statements
		f := all[c.kind]
		if f == nil {
			f = &figure{kills: map[int]bool{}}
			all[c.kind] = f
		}
		if !c.met {
			continue
		}
		f.kills[c.id/100] = true
		f.met++
		v, there := values[0][c.id]
		if !there {
			v = absent
		}
		switch {
		case c.unknown && v == c.becomes:
			f.kept++
		case c.unknown:
			f.undone++
		case c.err != nil:
			f.refused++
		default:
			f.told++
		}
	}
	text := fmt.Sprintf("%d statements", statements)
	for _, kind := range []string{"UPDATE", "INSERT", "DELETE", "REPLACE", "UPDATE LIMIT", "move", "reference table", "LOAD DATA", "transaction"} {
		if f := all[kind]; f != nil {
			text += fmt.Sprintf("\n%-15s met by %d kills, %d statements: %d heard OK, %d an error, %d nothing and are kept, %d nothing and are not", kind, len(f.kills), f.met, f.told, f.refused, f.kept, f.undone)
		}
	}
	return text
}
