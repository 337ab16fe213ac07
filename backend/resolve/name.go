// Package resolve keeps the addresses of servers that are known by name. Start with [Open]; [Name.Dial] connects.
//
// A name is looked up again every few seconds by a goroutine of its own, and connections are opened to the addresses of the last answer: who
// opens one waits for no resolver, and a resolver that fails, or hangs, changes nothing. Only before the first answer is there nothing else to
// go by, so that a connection waits for a look-up.
package resolve

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// everyDefault is the time between two look-ups, lookupMax how long one may take.
	everyDefault = 5 * time.Second
	lookupMax    = 5 * time.Second
	// tryMax is how long an address is tried while there is another one.
	tryMax = time.Second
)

// Config says what to look up.
type Config struct {
	// Addr is host:port, or the path of a unix socket. What needs no look-up is dialled as it is.
	Addr string
	// Lookup returns the addresses of a host; nil asks the system.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Every is the time between two look-ups; 0 means 5 s.
	Every time.Duration
	// Left is called when connections were opened to an address that the name leads to no more; nil: nobody asks.
	Left func()
}

// Name is a server's address, by name or by number. Its methods may be called by any goroutine.
type Name struct {
	cfg        Config
	host, port string // host is "" where nothing is to be looked up
	cancel     context.CancelFunc
	done       chan struct{} // closed when the goroutine of run has ended
	failures   atomic.Uint64

	mu    sync.Mutex
	addrs []netip.Addr // of the last answer; nil before the first
	// reached are the addresses to which connections were opened, the one that was reached last behind the others.
	reached []netip.Addr
}

// Open begins to look a name up. Close stops that.
func Open(cfg Config) *Name {
	if cfg.Every <= 0 {
		cfg.Every = everyDefault
	}
	if cfg.Lookup == nil {
		cfg.Lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	n := &Name{cfg: cfg, cancel: func() {}, done: make(chan struct{})}
	host, port, err := net.SplitHostPort(cfg.Addr)
	if _, number := netip.ParseAddr(host); err != nil || host == "" || number == nil || strings.HasPrefix(cfg.Addr, "/") {
		close(n.done)
		return n
	}
	n.host, n.port = host, port
	var ctx context.Context
	ctx, n.cancel = context.WithCancel(context.Background())
	go n.run(ctx)
	return n
}

// Close ends the look-ups and waits for the one under way. It may be called again.
func (n *Name) Close() {
	n.cancel()
	<-n.done
}

// run looks the name up until ctx ends.
func (n *Name) run(ctx context.Context) {
	defer close(n.done)
	for ctx.Err() == nil {
		_, _ = n.lookUp(ctx) // failures are counted; the addresses stay what they were
		select {
		case <-ctx.Done():
		case <-time.After(n.cfg.Every*9/10 + rand.N(n.cfg.Every/5+1)): // jitter keeps many names from being asked in step
		}
	}
}

// lookUp asks for the addresses and keeps them.
func (n *Name) lookUp(ctx context.Context) ([]netip.Addr, error) {
	asked, cancel := context.WithTimeout(ctx, lookupMax)
	defer cancel()
	addrs, err := n.cfg.Lookup(asked, n.host)
	if err == nil && len(addrs) == 0 {
		err = fmt.Errorf("look up %s: no address", n.host)
	}
	if err != nil {
		if ctx.Err() == nil {
			n.failures.Add(1)
		}
		return nil, err
	}
	addrs = slices.Clone(addrs)
	for k := range addrs {
		addrs[k] = addrs[k].Unmap()
	}
	n.mu.Lock()
	n.addrs = addrs
	before := len(n.reached)
	n.reached = slices.DeleteFunc(n.reached, func(a netip.Addr) bool { return !slices.Contains(addrs, a) })
	left := len(n.reached) < before
	n.mu.Unlock()
	if left && n.cfg.Left != nil {
		n.cfg.Left()
	}
	return addrs, nil
}

// Failures is how many look-ups have failed.
func (n *Name) Failures() uint64 { return n.failures.Load() }

// LeadsTo reports whether a connection to a is one to the server of that name: whatever has no name of its own, and whatever is connected to
// before the first answer, is.
func (n *Name) LeadsTo(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.addrs == nil || slices.Contains(n.addrs, tcp.AddrPort().Addr().Unmap())
}

// Succeed takes over what old knows, of which n takes the place.
func (n *Name) Succeed(old *Name) {
	old.mu.Lock()
	addrs, reached := old.addrs, slices.Clone(old.reached)
	old.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.addrs == nil {
		n.addrs, n.reached = addrs, reached
	}
}

// Dial connects, before ctx ends, to the address that was reached last or, if that fails, to each of the others in turn.
func (n *Name) Dial(ctx context.Context, d *net.Dialer) (net.Conn, error) {
	if n.host == "" {
		network := "tcp"
		if strings.HasPrefix(n.cfg.Addr, "/") {
			network = "unix"
		}
		return d.DialContext(ctx, network, n.cfg.Addr)
	}
	addrs, err := n.inTurn(ctx)
	if err != nil {
		return nil, err
	}
	var failed error // the first one's: it is the address to be used
	for k, a := range addrs {
		nc, err := n.try(ctx, d, a, len(addrs)-k)
		if err == nil {
			return nc, nil
		}
		if failed == nil {
			failed = err
		}
	}
	return nil, failed
}

// inTurn returns the addresses in the order in which they are to be tried.
func (n *Name) inTurn(ctx context.Context) ([]netip.Addr, error) {
	n.mu.Lock()
	addrs := slices.Clone(n.addrs)
	if last := len(n.reached) - 1; last >= 0 {
		if k := slices.Index(addrs, n.reached[last]); k > 0 {
			addrs[0], addrs[k] = addrs[k], addrs[0]
		}
	}
	n.mu.Unlock()
	if addrs == nil {
		return n.lookUp(ctx)
	}
	return addrs, nil
}

// try connects to an address, which has its share of the time where others are left to be tried.
func (n *Name) try(ctx context.Context, d *net.Dialer, a netip.Addr, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); left > 1 {
		patience := tryMax
		if ok {
			patience = min(patience, time.Until(deadline)/time.Duration(left))
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	nc, err := d.DialContext(ctx, "tcp", net.JoinHostPort(a.String(), n.port))
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.reached = append(slices.DeleteFunc(n.reached, func(r netip.Addr) bool { return r == a }), a)
	n.mu.Unlock()
	return nc, nil
}
