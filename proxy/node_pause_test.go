package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"kingshard/backend"
	"kingshard/mysql/mysqltest"
	"kingshard/proxy/querylog"
)

// pausable is a proxy with the nodes n, of a primary and its replica, and m.
type pausable struct {
	*testProxy
	primary, replica, other *mysqltest.RealServer
	text                    string
	operator                *mysqltest.RawClient
}

func startPausable(t *testing.T, lane string) *pausable {
	t.Helper()
	p := new(pausable)
	p.primary = startOwn(t, mysqltest.ServerConfig{Kind: mysqltest.MariaDB, Binlog: true, ServerID: 1})
	p.replica = startOwn(t, mysqltest.ServerConfig{Kind: mysqltest.MariaDB, ReplicaOf: p.primary, ServerID: 2})
	p.other = startOwn(t, mysqltest.ServerConfig{Kind: mysqltest.MariaDB, Binlog: true, ServerID: 3})
	for _, s := range []*mysqltest.RealServer{p.primary, p.other} {
		must(t, dial(t, s.Addr, rootClient()), "CREATE TABLE test.t (id INT PRIMARY KEY)")
	}
	account := fmt.Sprintf("replication_user: %s, replication_password: %s, down_after_noalive", mysqltest.User, mysqltest.Password)
	p.text = configText([]node{{name: "n", master: p.primary.Addr, slave: p.replica.Addr, conns: 8}, {name: "m", master: p.other.Addr, conns: 8}}, lane, "transaction_mode: best_effort")
	p.text = strings.Replace(p.text, "down_after_noalive", account, 1)
	for _, line := range []string{"primary_wait_timeout: 60s", "pool_wait_timeout: 60s", "prometheus_addr: 127.0.0.1:0"} {
		p.text = replaceLine(p.text, line)
	}
	p.testProxy = startProxy(t, p.text)
	p.operator = p.client("")
	reader := p.client("test")
	mysqltest.WaitFor(t, "both nodes, and the replica to serve reads", func() bool {
		r, err := reader.Query("SELECT @@server_id, COUNT(*) FROM t")
		return err == nil && r.Err == nil && r.Rows[0][0] == "2" && p.Nodes()["m"].Primary.State() == backend.Up
	})
	return p
}

// busy begins a transaction on the node n.
func (p *pausable) busy(t *testing.T, id int) *mysqltest.RawClient {
	t.Helper()
	c := p.client("test")
	must(t, c, "BEGIN")
	must(t, c, fmt.Sprintf("INSERT INTO t VALUES (%d)", id))
	return c
}

// held waits until so many statements wait for the node n.
func (p *pausable) held(t *testing.T, n int) {
	t.Helper()
	mysqltest.WaitFor(t, fmt.Sprint(n, " statements to wait"), func() bool { return p.Nodes()["n"].HoldStats().Waiting == n })
}

// While a node is paused what is new waits for it, for its primary and for its replica, through a reload too, and other nodes go on. A transaction that
// is open comes to its end first. RESUME lets all go on, and nobody hears of it.
func TestNodePause(t *testing.T) {
	for _, lane := range []string{"fast_lane: false", "fast_lane: true"} {
		t.Run(lane, func(t *testing.T) {
			p := startPausable(t, lane)
			busy := p.busy(t, 1)
			pausing := later(query(p.client(""), "KS NODE n PAUSE SECONDS 600"))
			mysqltest.WaitFor(t, "the pause", func() bool { return p.Nodes()["n"].Primary.Duty.Paused() })
			fails(t, p.operator, "KS NODE n PAUSE", 9032)
			write, read := later(query(p.client("test"), "INSERT INTO t VALUES (2)")), later(query(p.client("test"), "SELECT @@server_id FROM t LIMIT 1"))
			p.held(t, 2)
			must(t, busy, "INSERT INTO t VALUES (3)")
			select {
			case o := <-pausing:
				t.Fatalf("paused while a transaction is open: %+v", o.r)
			default:
			}
			must(t, busy, "COMMIT")
			o := <-pausing
			if o.err != nil || o.r.Err != nil || o.r.Rows[0][1] != "paused" || fmt.Sprint(o.r.Rows[0][3:]) != "[2 0]" {
				t.Fatalf("%v, %+v", o.err, o.r)
			}
			both := p.client("test")
			must(t, both, "BEGIN")
			must(t, both, "/*m*/ INSERT INTO t VALUES (4)")
			must(t, p.client("test"), "/*m*/ INSERT INTO t VALUES (5)")
			second := later(query(both, "/*n*/ INSERT INTO t VALUES (4)"))
			p.held(t, 3)
			if status, body := get(t, p.httpAddr("prometheus_addr")+"/readyz", ""); status != http.StatusOK {
				t.Errorf("readyz: %d %s", status, body)
			}
			if err := p.Reload(querylog.By{User: "test"}, parse(t, replaceLine(p.text, "idle_timeout: 7h")), false); err != nil {
				t.Fatal(err)
			}
			p.held(t, 3)
			if got := must(t, p.operator, "SHOW KS NODES WHERE withheld = 'an operator has paused the node' AND state = 'down'").Rows; len(got) != 2 {
				t.Errorf("nodes: %v", got)
			}
			if got := must(t, p.operator, "SHOW KS ROLES WHERE withheld = 'an operator has paused the node'").Rows; len(got) != 2 {
				t.Errorf("roles: %v", got)
			}
			if got := value(t, p.operator, "SHOW KS STATUS LIKE 'Nodes_paused'"); got != "Nodes_paused,1" {
				t.Error(got)
			}
			for _, i := range p.Nodes()["n"].Instances() {
				if st := i.Stats(); st.Open > 0 {
					t.Errorf("%s is not at rest: %+v", i.Addr, st)
				}
			}
			r := must(t, p.operator, "KS NODE n RESUME")
			if r.Rows[0][1] != "online" || r.Rows[0][3] != "3" {
				t.Errorf("RESUME: %v", r.Rows)
			}
			for _, done := range []<-chan awaited{write, read, second} {
				if o := <-done; o.err != nil || o.r.Err != nil {
					t.Errorf("%v, %+v", o.err, o.r)
				} else if done == read && o.r.Rows[0][0] != "2" {
					t.Errorf("the read was served by server %v", o.r.Rows[0][0])
				}
			}
			must(t, both, "COMMIT")
			if got := value(t, dial(t, p.primary.Addr, rootClient()), "SELECT GROUP_CONCAT(id ORDER BY id) FROM test.t"); got != "1,2,3,4" {
				t.Errorf("n has %s", got)
			}
			must(t, p.operator, "KS NODE n RESUME") // which changes nothing
			if got := must(t, p.operator, "SHOW KS EVENTS WHERE what LIKE 'node %'").Rows; len(got) != 4 {
				t.Errorf("events: %v", got)
			}
		})
	}
}

// A pause that connections in use stand against is none, or ends them. They are those from before a reload, too.
func TestNodePauseBusy(t *testing.T) {
	p := startPausable(t, "fast_lane: true")
	if e := fails(t, p.operator, "KS NODE nx PAUSE", 9032); !strings.Contains(e.Message, "no node") {
		t.Error(e)
	}
	fails(t, p.operator, "KS NODE nx RESUME", 9032)
	fails(t, p.operator, "KS NODE n PAUSE SECONDS 601", 9031)
	busy := p.busy(t, 1)
	must(t, p.operator, "KS SET nodes[n].max_conns_limit = 9")
	if e := fails(t, p.operator, "KS NODE n PAUSE SECONDS 1", 9032); !strings.Contains(e.Message, "1 connections") || !strings.Contains(e.Message, "FORCE ends them") {
		t.Error(e)
	}
	if e := fails(t, p.operator, "KS NODE n SWITCHOVER TO '"+p.replica.Addr+"' SECONDS 1", 9032); !strings.Contains(e.Message, "1 connections") {
		t.Error(e)
	}
	must(t, p.client("test"), "INSERT INTO t VALUES (2)")
	// RESUME is for a pause that is not there yet, too.
	pausing := later(query(p.client(""), "KS NODE n PAUSE SECONDS 600"))
	mysqltest.WaitFor(t, "the pause", func() bool { return p.Nodes()["n"].Primary.Duty.Paused() })
	if e := fails(t, p.operator, "KS NODE n SWITCHOVER TO '"+p.replica.Addr+"'", 9032); !strings.Contains(e.Message, "under way") {
		t.Error(e)
	}
	must(t, p.operator, "KS NODE n RESUME")
	if o := <-pausing; o.err != nil || o.r.Err == nil || !strings.Contains(o.r.Err.Message, "resumed meanwhile") {
		t.Errorf("%v, %+v", o.err, o.r)
	}
	must(t, busy, "INSERT INTO t VALUES (3)")
	r := must(t, p.operator, "KS NODE n PAUSE SECONDS 1 FORCE 'now'")
	if r.Rows[0][4] != "1" {
		t.Errorf("FORCE: %v", r.Rows)
	}
	must(t, p.operator, "KS NODE n RESUME")
	fails(t, busy, "INSERT INTO t VALUES (4)", 1213)
	must(t, busy, "INSERT INTO t VALUES (5)")
	if got := value(t, dial(t, p.primary.Addr, rootClient()), "SELECT GROUP_CONCAT(id ORDER BY id) FROM test.t"); got != "2,5" {
		t.Errorf("n has %s", got)
	}
}

// Who waits for longer than primary_wait_timeout hears why. The node stays paused when another server becomes its primary, and waits for that one.
func TestNodePauseSwitchover(t *testing.T) {
	p := startPausable(t, "fast_lane: true")
	must(t, p.operator, "KS NODE n PAUSE")
	must(t, p.operator, "KS SET primary_wait_timeout = 300ms")
	for _, text := range []string{"INSERT INTO t VALUES (1)", "SELECT id FROM t"} {
		if e := fails(t, p.client("test"), text, 9002); !strings.Contains(e.Message, "an operator has paused the node; waited for a primary for 300ms") {
			t.Error(e)
		}
	}
	must(t, p.operator, "KS SET primary_wait_timeout = 60s")
	must(t, p.operator, "KS NODE n SWITCHOVER TO '"+p.replica.Addr+"'")
	if i := p.Nodes()["n"].Primary; i.Addr != p.replica.Addr || !i.Duty.Paused() {
		t.Errorf("the primary is %s, paused %t", i.Addr, i.Duty.Paused())
	}
	write := later(query(p.client("test"), "INSERT INTO t VALUES (2)"))
	p.held(t, 1)
	must(t, p.operator, "KS NODE n RESUME")
	if o := <-write; o.err != nil || o.r.Err != nil {
		t.Errorf("%v, %+v", o.err, o.r)
	}
	if got := value(t, dial(t, p.replica.Addr, rootClient()), "SELECT GROUP_CONCAT(id) FROM test.t"); got != "2" {
		t.Errorf("the new primary has %s", got)
	}
}

// Reads of replicas go on when the pause of their node ends, though its primary is down by then.
func TestNodePauseReads(t *testing.T) {
	p := startPausable(t, "fast_lane: true")
	must(t, p.operator, "KS NODE n PAUSE")
	write := later(query(p.client("test"), "INSERT INTO t VALUES (1)"))
	p.held(t, 1)
	reads := make([]<-chan awaited, 5)
	for k := range reads {
		reads[k] = later(query(p.client("test"), "SELECT @@server_id FROM t"))
	}
	p.held(t, 1+len(reads))
	p.primary.Kill()
	mysqltest.WaitFor(t, "the primary to be found dead", func() bool { return p.Nodes()["n"].Primary.Health() == backend.Down })
	must(t, p.operator, "KS NODE n RESUME")
	for _, read := range reads {
		if o := <-read; o.err != nil || o.r.Err != nil {
			t.Errorf("%v, %+v", o.err, o.r)
		}
	}
	p.held(t, 1)
	if err := p.primary.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o := <-write; o.err != nil || o.r.Err != nil {
		t.Errorf("%v, %+v", o.err, o.r)
	}
}

// What any node can answer goes to the ones that are not paused. While all are it waits, until any of them is there again: the default node or not.
func TestNodePauseAnywhere(t *testing.T) {
	for _, lane := range []string{"fast_lane: false", "fast_lane: true"} {
		t.Run(lane, func(t *testing.T) {
			p := startPausable(t, lane)
			mysqltest.WaitFor(t, "the variables of both nodes", func() bool {
				return p.testProxy.primary("n").Variables.Same(&p.testProxy.primary("m").Variables, "max_allowed_packet")
			})
			texts := []string{"SELECT 1", "SELECT @@max_allowed_packet", "SET sql_mode = ''"}
			must(t, p.operator, "KS NODE n PAUSE")
			for _, text := range texts {
				must(t, p.client("test"), text)
			}
			for _, first := range []string{"m", "n"} {
				if !p.testProxy.primary("m").Duty.Paused() {
					must(t, p.operator, "KS NODE m PAUSE")
				}
				var waiting []<-chan awaited
				for _, text := range texts {
					waiting = append(waiting, later(query(p.client(""), text)))
				}
				for _, n := range []string{"n", "m"} {
					mysqltest.WaitFor(t, "the statements to wait for "+n, func() bool { return p.Nodes()[n].HoldStats().Waiting == len(texts) })
				}
				if first == "n" { // a reload while they wait
					p.reload(replaceLine(p.text, "idle_timeout: 7h"))
				}
				must(t, p.operator, "KS NODE "+first+" RESUME")
				for k, done := range waiting {
					if o := <-done; o.err != nil || o.r.Err != nil {
						t.Errorf("%s: %v, %+v", texts[k], o.err, o.r)
					}
				}
				for _, n := range []string{"n", "m"} {
					if st := p.Nodes()[n].HoldStats(); st.Waiting != 0 || st.Expired != 0 {
						t.Errorf("%s goes on: %+v", n, st)
					}
				}
			}
			must(t, p.operator, "KS NODE n PAUSE")
			must(t, p.operator, "KS SET primary_wait_timeout = 300ms")
			for _, text := range texts {
				if e := fails(t, p.client(""), text, 9002); !strings.Contains(e.Message, "waited for a primary for 300ms") {
					t.Errorf("%s: %v", text, e)
				}
			}
			must(t, p.operator, "KS SET primary_waiters = 1")
			must(t, p.operator, "KS SET primary_wait_timeout = 60s")
			waits := later(query(p.client(""), "SELECT 1"))
			for _, n := range []string{"n", "m"} { // of which it begins to wait for one after the other
				mysqltest.WaitFor(t, "the statement to wait for "+n, func() bool { return p.Nodes()[n].HoldStats().Waiting == 1 })
			}
			if e := fails(t, p.client(""), "SELECT 1", 9002); !strings.Contains(e.Message, "1 statements wait") {
				t.Error(e)
			}
			must(t, p.operator, "KS NODE m RESUME")
			if o := <-waits; o.err != nil || o.r.Err != nil {
				t.Errorf("%v, %+v", o.err, o.r)
			}
		})
	}
}
