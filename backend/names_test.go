package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"kingshard/backend/resolve"
	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// named are the addresses that a test's name leads to.
type named struct {
	mu     sync.Mutex
	addrs  []netip.Addr
	hangs  bool
	failed bool
	asked  int
}

func (n *named) lookup(ctx context.Context, _ string) ([]netip.Addr, error) {
	n.mu.Lock()
	n.asked++
	addrs, hangs, failed := n.addrs, n.hangs, n.failed
	n.mu.Unlock()
	switch {
	case hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case failed:
		return nil, errors.New("SERVFAIL")
	}
	return addrs, nil
}

func (n *named) change(f func(n *named)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(n)
}

// answered waits until a look-up that began from now on has ended.
func (n *named) answered(t *testing.T) {
	t.Helper()
	count := func() (asked int) {
		n.change(func(n *named) { asked = n.asked })
		return asked
	}
	before := count()
	mysqltest.WaitFor(t, "a look-up", func() bool { return count() > before+1 })
}

// twoAddresses starts two servers with the same port, the second at 127.0.0.2, and an instance by a name that leads to the first.
func twoAddresses(t *testing.T) (i *Instance, name *named, first, second *mysqltest.ScriptServer) {
	t.Helper()
	first, second = mysqltest.StartScript(t, mysqltest.ScriptConfig{}), mysqltest.StartScript(t, mysqltest.ScriptConfig{})
	_, port, _ := net.SplitHostPort(first.Addr)
	l, err := net.Listen("tcp", "127.0.0.2:"+port)
	if err != nil {
		t.Fatal(err)
	}
	var relays sync.WaitGroup
	relays.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", second.Addr)
			if err != nil {
				near.Close()
				continue
			}
			relays.Go(func() { _, _ = io.Copy(far, near); far.Close() })
			relays.Go(func() { _, _ = io.Copy(near, far); near.Close() })
		}
	})
	name = &named{addrs: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
	i = newInstance("n", Primary, 1, DialConfig{Addr: "db.test:" + port, User: "u", MaxAllowedPacket: 1 << 20}, PoolConfig{
		Max: 4, ConnectTimeout: 10 * time.Second, Names: resolve.Config{Lookup: name.lookup, Every: 5 * time.Millisecond},
	})
	t.Cleanup(func() {
		retire(i)
		i.EndConns()
		l.Close()
		relays.Wait()
	})
	return i, name, first, second
}

func borrow(t *testing.T, i *Instance) Pooled {
	t.Helper()
	p, err := i.Get(nil, time.Now().Add(10*time.Second), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// say has the connection send a statement and read the answer.
func say(t *testing.T, p Pooled, sql string) {
	t.Helper()
	if err := p.Conn.Exec(sql); err != nil {
		t.Fatal(err)
	}
}

// Connections follow a name to other addresses: new ones at once, idle ones are closed, and those on loan when they come back. A statement is
// ended on the server on which it runs.
func TestConnectionsFollowTheName(t *testing.T) {
	i, name, first, second := twoAddresses(t)
	lent, idle := borrow(t, i), borrow(t, i)
	idle.Put()
	name.change(func(n *named) { n.addrs = []netip.Addr{netip.MustParseAddr("127.0.0.2")} })
	mysqltest.WaitFor(t, "the end of the idle connection", func() bool { return i.Stats().Open == 1 })
	say(t, lent, "lent")
	next := borrow(t, i)
	say(t, next, "next")
	if got := first.Queries(); !slices.Equal(got, []string{"lent"}) {
		t.Errorf("the first server has %q", got)
	}
	if got := second.Queries(); !slices.Equal(got, []string{"next"}) {
		t.Errorf("the second server has %q", got)
	}
	if i.Name.LeadsTo(lent.Conn.Peer) || !i.Name.LeadsTo(next.Conn.Peer) {
		t.Error("the name leads to the second server only")
	}
	if err := i.Kill(lent.Conn, false, time.Now().Add(10*time.Second)); err != nil {
		t.Fatal(err)
	}
	if got, want := first.Queries(), fmt.Sprintf("KILL QUERY %d", lent.Conn.ThreadID); got[len(got)-1] != want {
		t.Errorf("the first server has %q, want %s", got, want)
	}
	if got := second.Queries(); len(got) != 1 {
		t.Errorf("the second server has %q", got)
	}
	lent.Put()
	next.Put()
	if st := i.Stats(); st.Open != 1 || st.Idle != 1 {
		t.Errorf("%d connections, %d idle", st.Open, st.Idle)
	}
}

// Nobody hears of a resolver that fails, or hangs, once it has answered: not over a reload either.
func TestNobodyHearsOfTheResolver(t *testing.T) {
	i, name, _, _ := twoAddresses(t)
	borrow(t, i).Put()
	hang := func(n *named) { n.hangs = true }
	for _, broken := range []func(n *named){func(n *named) { n.failed = true }, hang} {
		name.change(broken)
		if !name.hangs {
			name.answered(t)
		}
		for range 20 {
			p := borrow(t, i)
			say(t, p, "SELECT 1")
			p.Taint() // so that the next one is dialled
		}
	}
	next := newInstance("n", Primary, 1, i.dial, PoolConfig{Max: 1, ConnectTimeout: 10 * time.Second, Names: resolve.Config{Lookup: name.lookup}})
	defer retire(next)
	(&Node{hold: new(Hold), Primary: next}).Succeed(&Node{hold: new(Hold), Primary: i})
	p := borrow(t, next)
	defer p.Put()
	p.Conn.Command(mysql.ComPing, "")
	if err := p.Conn.Flush(); err != nil {
		t.Error(err)
	}
}
