package backend

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"kingshard/mysql/sockopt"
)

// openConns are the connections to an instance that have logged in, in use or not, and what was last seen of them. Connections come and
// go by its lock; their statements do not know of it.
type openConns struct {
	mu  sync.Mutex
	all map[*Conn]*seenConn
}

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
	c.home = o
}

func (o *openConns) drop(c *Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, c)
}

// Quiet returns for how long nothing has come from the instance on any connection; false if there is none. It costs a system call for
// each, and statements nothing.
func (i *Instance) Quiet() (quiet time.Duration, ok bool) {
	o, now := &i.open, time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	for c, seen := range o.all {
		d, known := time.Duration(0), false
		if raw := c.watched.Load(); raw != nil {
			d, known = sockopt.SinceReceived(*raw)
		}
		if !known { // a unix socket, or no Linux: what was sent counts, too
			if a := c.Activity(); a != seen.activity {
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
