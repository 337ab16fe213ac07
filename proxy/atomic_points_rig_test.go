package proxy_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/kserror"
)

// fault is what happens at a point.
type fault uint8

const (
	cut        fault = iota // the connection breaks
	killProxy               // and another process is started
	killAnchor              // the server that decides, which is started again
	killBranch              // the other server
	killBoth                // the proxy and the server that decides
	killProxyAndBranch
	standStill // the proxy is stopped until its deadlines are over, while there is another one
)

func (f fault) String() string {
	return [...]string{"the connection breaks", "kill of the proxy", "kill of the anchor", "kill of the branch", "kill of the proxy and the anchor", "kill of the proxy and the branch", "the proxy stands still"}[f]
}

func (f fault) killsProxy() bool {
	return f == killProxy || f == killBoth || f == killProxyAndBranch
}

// servers are those that the fault kills, the anchor's is 0.
func (f fault) servers() []int {
	switch f {
	case killAnchor, killBoth:
		return []int{0}
	case killBranch, killProxyAndBranch:
		return []int{1}
	}
	return nil
}

// pointStep is a point of a change, and what happens there.
type pointStep struct {
	point
	fault
}

// pointCase are the faults that one change meets. Each one is over when the next one comes.
type pointCase []pointStep

func (c pointCase) String() string {
	var list []string
	for _, s := range c {
		list = append(list, s.fault.String()+" "+s.point.String())
	}
	return strings.Join(list, ", then ")
}

// standsStillFor is longer than all deadlines of a coordinator.
const standsStillFor = 11 * time.Second

// doubtMax is how long a branch may be in doubt once everything is back.
const doubtMax = 10 * time.Second

// pointRig is a proxy whose connections to two servers go through relays.
type pointRig struct {
	*wholeRig
	points   *points
	relays   [2]*pointRelay
	d        *daemon
	last     int // the last client
	doubtest time.Duration
	kept     int
	unknown  int
}

func startPoints(t *testing.T, kind mysqltest.Kind) *pointRig {
	r := &pointRig{wholeRig: startWhole(t, kind), points: &points{at: make(chan chan bool), ended: make(chan struct{})}, last: 1}
	for k, s := range r.servers {
		r.relays[k] = startPointRelay(t, k, s.Addr, r.points)
	}
	t.Cleanup(func() { close(r.points.ended) })
	r.startProxy()
	r.insert(1)
	return r
}

// startProxy starts the one that the faults are for.
func (r *pointRig) startProxy() {
	r.d = startDaemon(r.t, r.binary, wholeConfig(r.relays[0].l.Addr().String(), r.relays[1].l.Addr().String()))
	r.proxies = append(r.proxies, r.d)
}

// insert gives a client its rows, with the value 0.
func (r *pointRig) insert(client int) {
	for k, s := range r.servers {
		must(r.t, dial(r.t, s.Addr, rootClient()), fmt.Sprintf("INSERT INTO shop.t_000%d (id, client, v) VALUES (%d, %d, 0)", k, 2*client+k, client))
	}
}

// update sets both rows of a client by one statement.
func (r *pointRig) update(client, value int) error {
	config := driver.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = "app", "app", "tcp", r.d.addr, "shop"
	config.Timeout, config.ReadTimeout, config.Logger = 2*time.Second, time.Minute, &driver.NopLogger{}
	connector, err := driver.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	_, err = db.Exec(fmt.Sprintf("UPDATE t SET v = %d WHERE id IN (%d, %d)", value, 2*client, 2*client+1))
	return err
}

// surely is update until it succeeds.
func (r *pointRig) surely(t *testing.T, client, value int) {
	t.Helper()
	mysqltest.WaitFor(t, "a change to be carried out", func() bool { return r.update(client, value) == nil })
}

// run has a change meet the faults, and checks what came of it.
func (r *pointRig) run(t *testing.T, c pointCase) {
	r.surely(t, 1, r.last)         // so that all is up
	if c[0].what == atClock.what { // a process that knows the anchor's clock does not ask
		_ = syscall.Kill(r.d.pids[0], syscall.SIGKILL)
		r.startProxy()
	}
	r.last++
	client := r.last
	r.insert(client)
	r.points.begin()
	r.points.set(&c[0].point)
	defer func() {
		r.points.set(nil)
		if t.Failed() {
			t.Log("what went over the relays:\n" + r.points.story())
		}
	}()
	heard := make(chan error, 1)
	go func() { heard <- r.update(client, 1) }()
	var bystander *daemon
	for k := range c {
		var goOn chan bool
		select {
		case goOn = <-r.points.at:
		case <-time.After(20 * time.Second):
			t.Fatalf("it has not come %v", &c[k].point)
		}
		if k+1 < len(c) {
			r.points.set(&c[k+1].point)
		}
		if c[k].fault == standStill {
			_ = syscall.Kill(r.d.pids[0], syscall.SIGSTOP)
			bystander = r.proxy()
			time.Sleep(standsStillFor)
			_ = syscall.Kill(r.d.pids[0], syscall.SIGCONT)
		}
		r.kill(c[k].fault)
		goOn <- c[k].fault != cut && !c[k].killsProxy()
		r.bringBack(t, c[k].fault)
	}
	back := time.Now()
	for _, s := range r.servers {
		direct := dial(t, s.Addr, rootClient())
		mysqltest.WaitFor(t, "nothing is prepared", func() bool { return len(must(t, direct, "XA RECOVER").Rows) == 0 })
	}
	doubt := time.Since(back)
	r.doubtest = max(r.doubtest, doubt)
	if doubt > doubtMax {
		t.Errorf("a branch was in doubt for %v", doubt)
	}
	r.judge(t, client, <-heard)
	r.surely(t, client, 2) // nothing keeps a lock
	if bystander != nil {
		_ = syscall.Kill(bystander.pids[0], syscall.SIGKILL)
	}
}

// kill kills what the fault says.
func (r *pointRig) kill(f fault) {
	if f.killsProxy() {
		_ = syscall.Kill(r.d.pids[0], syscall.SIGKILL)
	}
	for _, k := range f.servers() {
		r.servers[k].Kill()
	}
}

// bringBack starts again what the fault has killed.
func (r *pointRig) bringBack(t *testing.T, f fault) {
	for _, k := range f.servers() {
		restart, end := context.WithTimeout(t.Context(), time.Minute)
		err := r.servers[k].Restart(restart)
		end()
		if err != nil {
			t.Fatal(err)
		}
	}
	if f.killsProxy() {
		r.startProxy()
	}
}

// judge compares what the servers have of a client with what it heard, and with what was decided.
func (r *pointRig) judge(t *testing.T, client int, heard error) {
	var values [2]int
	for k, s := range r.servers {
		values[k] = number(t, dial(t, s.Addr, rootClient()), fmt.Sprintf("SELECT v FROM shop.t_000%d WHERE client = %d", k, client))
	}
	var told *driver.MySQLError
	isTold := errors.As(heard, &told)
	decided, committed := r.points.decision()
	switch {
	case values[0] != values[1]:
		t.Errorf("half: one server has %d, the other %d; the client heard %v", values[0], values[1], heard)
	case heard == nil && values[0] == 0:
		t.Error("the client heard OK, and nothing was kept")
	case isTold && told.Number != kserror.BackendLost && values[0] == 1:
		t.Errorf("it was kept, and the client heard %v", heard)
	case isTold && strings.Contains(told.Message, "All nodes keep the change") && values[0] == 0:
		t.Errorf("it was not kept, and the client heard %v", heard)
	case committed && values[0] == 0:
		t.Errorf("the anchor has committed, and nothing was kept; the client heard %v", heard)
	case !decided && values[0] == 1:
		t.Errorf("nobody has decided, and it was kept; the client heard %v", heard)
	}
	if values[0] == 1 {
		r.kept++
	}
	if heard != nil && (!isTold || told.Number == kserror.BackendLost) {
		r.unknown++
	}
}
