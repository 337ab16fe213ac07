package backend

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"kingshard/mysql/sockopt"
)

// openConns are the connections to a server that have logged in, in use or not, and what was last seen of them. Connections come and
// go by its lock; their statements do not know of it. Instances of a node at the same address have one, also across reloads: a
// connection that a retired instance lent ends with the others when the server is dead, as long as the configuration has the address.
type openConns struct {
	mu  sync.Mutex
	all map[*Conn]*seenConn
	// heard is when a probe was answered last, or bytes came on a connection that is closed by now, of a login that failed say; the zero
	// time if neither has been.
	heard time.Time
	// answered is when a probe was answered last, or, if none has been, when the first instance at the address was made.
	answered time.Time
	// dials ends with the dials of borrowers, by stopDials.
	dials     context.Context
	stopDials context.CancelFunc
	// dialling has a place for each dial of borrowers that is under way.
	dialling chan struct{}
}

// dialsMax is how many dials of borrowers may be under way to one server: logins cost it more than statements, and behind a restart everybody
// needs one.
const dialsMax = 16

func newOpenConns() *openConns {
	o := &openConns{answered: time.Now(), dialling: make(chan struct{}, dialsMax)}
	o.dials, o.stopDials = context.WithCancel(context.Background())
	return o
}

// greetsFor is for how long after the last answer to a probe connections that are closed tell that the instance is there: a server that takes
// logins and answers nothing else is no use to anybody.
const greetsFor = 10 * time.Second

// seenConn is how far the reads and writes of a connection had come, and when that was looked at, where the system does not tell more.
type seenConn struct {
	activity uint32
	changed  time.Time
}

func (o *openConns) add(c *Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = make(map[*Conn]*seenConn)
	}
	o.all[c] = &seenConn{changed: time.Now()}
}

// drop forgets a connection that is about to be closed, but not when it was heard of.
func (o *openConns) drop(c *Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, c)
	if c.Info == nil {
		return // it had no greeting: the system may have taken the connection, and the server not
	}
	if time.Since(o.answered) > greetsFor {
		return
	}
	if d, known := c.sinceReceived(); known {
		o.hearLocked(time.Now().Add(-d))
	}
}

// hear notes that the instance answered a probe at that time.
func (o *openConns) hear(at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answered = at
	o.hearLocked(at)
}

func (o *openConns) hearLocked(at time.Time) {
	if at.After(o.heard) {
		o.heard = at
	}
}

// sinceReceived returns for how long no byte has come, and whether the system tells.
func (c *Conn) sinceReceived() (d time.Duration, known bool) {
	raw := c.watched.Load()
	if raw == nil {
		return 0, false
	}
	return sockopt.SinceReceived(*raw)
}

// Quiet returns for how long nothing has come from the instance on any connection, closed ones included; false if it was never heard of. It
// costs a system call for each that is open, and statements nothing.
func (i *Instance) Quiet() (quiet time.Duration, ok bool) {
	o, now := i.open, time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	if ok = !o.heard.IsZero(); ok {
		quiet = now.Sub(o.heard)
	}
	for c, seen := range o.all {
		d, known := c.sinceReceived()
		if !known { // a unix socket, or no Linux: what was sent counts, too
			if a := c.Net.Activity(); a != seen.activity {
				seen.activity, seen.changed = a, now
			}
			d = now.Sub(seen.changed)
		}
		if !ok || d < quiet {
			quiet, ok = d, true
		}
	}
	return quiet, ok
}

// EndConns breaks all connections to the instance: whatever waits for it hears that at once. It returns how many there were.
func (i *Instance) EndConns() int {
	i.open.mu.Lock()
	defer i.open.mu.Unlock()
	for c := range i.open.all {
		if raw := c.watched.Load(); raw != nil {
			c.cutOff.Store(true)
			// The descriptor stays its owner's to close; a goroutine that waits and a loop both hear of it.
			_ = (*raw).Control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) })
		}
	}
	return len(i.open.all)
}

// Ended reports whether EndConns has broken the connection: another one to the same instance would be no better.
func (c *Conn) Ended() bool { return c.cutOff.Load() }

// watch makes the connection known to those who look at all of an instance, by what it reads from.
func (c *Conn) watch(raw syscall.RawConn) {
	if raw != nil {
		c.watched.Store(&raw)
	}
}

// Close closes the connection.
func (c *Conn) Close() error {
	if c.home != nil {
		c.home.drop(c)
	}
	return c.Conn.Close()
}

// watchedConn is what others than the user of a connection may use of it.
type watchedConn struct {
	watched atomic.Pointer[syscall.RawConn]
	home    *openConns // nil: of no instance
	// cutOff says that EndConns has broken it.
	cutOff atomic.Bool
}
