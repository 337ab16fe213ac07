package resolve

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var errNoResolver = errors.New("no resolver answers")

// resolver is one whose answers a test changes.
type resolver struct {
	mu     sync.Mutex
	answer []netip.Addr
	err    error
	hangs  bool
	asked  int
}

func (r *resolver) set(err error, hangs bool, answer ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer, r.err, r.hangs = nil, err, hangs
	for _, a := range answer {
		r.answer = append(r.answer, netip.MustParseAddr(a))
	}
}

func (r *resolver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func (r *resolver) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	r.asked++
	answer, err, hangs := r.answer, r.err, r.hangs
	r.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if host != "db.test" {
		err = errors.New("asked for " + host)
	}
	return answer, err
}

func tcpAddr(a string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(a), Port: 3306} }

// A name is looked up on a timer; a resolver that fails, answers with nothing or hangs leaves the addresses as they were.
func TestLookedUpOnATimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resolver{}
		r.set(nil, false, "10.0.0.1", "::ffff:10.0.0.2")
		asked := make(chan struct{}) // so that the first answer does not come before the test looks
		n := Open(Config{Addr: "db.test:3306", Lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			<-asked
			return r.lookup(ctx, host)
		}})
		defer n.Close()
		known := func(want ...string) {
			t.Helper()
			synctest.Wait()
			addrs, err := n.inTurn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range addrs {
				got = append(got, a.String())
			}
			if !slices.Equal(got, want) {
				t.Errorf("addresses %v, want %v", got, want)
			}
		}
		if !n.LeadsTo(tcpAddr("10.0.0.9")) {
			t.Error("before the first answer any connection is one to the server")
		}
		close(asked)
		known("10.0.0.1", "10.0.0.2")
		for _, broken := range []func(){
			func() { r.set(errNoResolver, false) },
			func() { r.set(nil, false) },
			func() { r.set(nil, true, "10.0.0.4") },
		} {
			broken()
			before := n.Failures()
			time.Sleep(time.Minute)
			known("10.0.0.1", "10.0.0.2")
			if n.Failures() == before {
				t.Error("no failure was counted")
			}
		}
		r.set(nil, false, "10.0.0.3")
		time.Sleep(20 * time.Second)
		known("10.0.0.3")
		if n.LeadsTo(tcpAddr("10.0.0.1")) || !n.LeadsTo(tcpAddr("10.0.0.3")) || !n.LeadsTo(&net.UnixAddr{Net: "unix"}) {
			t.Error("of the addresses only the last answer's are the name's")
		}
		before := r.count()
		time.Sleep(time.Minute)
		synctest.Wait()
		if asked := r.count() - before; asked < 10 || asked > 14 {
			t.Errorf("looked up %d times in a minute", asked)
		}
		next := Open(Config{Addr: "db.test:3306", Lookup: (&resolver{hangs: true}).lookup})
		defer next.Close()
		next.Succeed(n)
		n = next
		known("10.0.0.3")
	})
}

// What has no name to be looked up is dialled as it is, and nobody is asked.
func TestNumbersAreNotLookedUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := &resolver{err: errNoResolver}
	for _, addr := range []string{l.Addr().String(), "[::1]:1", t.TempDir() + "/mysqld.sock"} {
		n := Open(Config{Addr: addr, Lookup: r.lookup})
		nc, err := n.Dial(t.Context(), &net.Dialer{})
		if addr == l.Addr().String() {
			if err != nil {
				t.Fatal(err)
			}
			nc.Close()
		} else if err == nil || errors.Is(err, errNoResolver) || !strings.Contains(err.Error(), "connect") {
			t.Errorf("%s: %v", addr, err)
		}
		n.Close()
	}
	if asked := r.count(); asked != 0 {
		t.Errorf("%d look-ups", asked)
	}
}

// Before there is an answer a dial asks itself, and hears what the resolver says; afterwards the addresses are tried in turn, first the one
// that was reached last. Who leaves is told.
func TestDialsInTurn(t *testing.T) {
	first, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	_, port, _ := net.SplitHostPort(first.Addr().String())
	second, err := net.Listen("tcp", "127.0.0.3:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	r := &resolver{}
	r.set(errNoResolver, false)
	left := make(chan struct{}, 1)
	n := Open(Config{Addr: "db.test:" + port, Lookup: r.lookup, Every: time.Hour, Left: func() { left <- struct{}{} }})
	defer n.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := n.Dial(ctx, &net.Dialer{}); !errors.Is(err, errNoResolver) {
		t.Fatalf("without a resolver: %v", err)
	}
	reach := func(want string) {
		t.Helper()
		nc, err := n.Dial(ctx, &net.Dialer{})
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if got := nc.RemoteAddr().(*net.TCPAddr).IP.String(); got != want {
			t.Errorf("connected to %s, want %s", got, want)
		}
	}
	r.set(nil, false, "127.0.0.4", "127.0.0.3", "127.0.0.2") // nothing listens at the first
	reach("127.0.0.3")
	second.Close()
	reach("127.0.0.2")
	second, err = net.Listen("tcp", "127.0.0.3:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	reach("127.0.0.2")
	select {
	case <-left:
		t.Error("told of a change before there was one")
	default:
	}
	r.set(nil, false, "127.0.0.4", "127.0.0.3")
	if _, err := n.lookUp(ctx); err != nil {
		t.Fatal(err)
	}
	<-left
	reach("127.0.0.3")
	r.set(nil, false, "127.0.0.3")
	if _, err := n.lookUp(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case <-left:
		t.Error("told of an address that nothing was connected to")
	default:
	}
	second.Close()
	if _, err := n.Dial(ctx, &net.Dialer{}); err == nil || !strings.Contains(err.Error(), "127.0.0.3") {
		t.Errorf("nobody listens: %v", err)
	}
}
