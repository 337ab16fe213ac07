package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"kingshard/backend/pool"
	"kingshard/backend/resolve"
	"kingshard/mysql"
)

// Role is what an instance is in its node.
type Role uint8

// The roles.
const (
	Primary Role = iota
	Replica
)

// String gives "primary" or "replica".
func (r Role) String() string {
	if r == Replica {
		return "replica"
	}
	return "primary"
}

// State is what is known of an instance's health.
type State uint8

// The states.
const (
	Unknown State = iota // not probed yet
	Up
	Down
)

// String gives "unknown", "up" or "down".
func (s State) String() string { return [...]string{"unknown", "up", "down"}[s] }

// ErrDown says that the health checks have found the instance dead, ErrHeldDown that an operator took it down, ErrPaused that an operator paused
// its node.
var (
	ErrDown     = pool.ErrDown
	ErrHeldDown = fmt.Errorf("%w: an operator took it down", ErrDown)
	ErrPaused   = fmt.Errorf("%w: an operator has paused the node", ErrDown)
)

// Instance is one mysqld: its address, a pool of connections to it and what is known of it.
type Instance struct {
	Node string
	Addr string
	// Name has the addresses that Addr leads to.
	Name *resolve.Name
	Role Role
	Share
	// IsSource says that a replica is the primary's own server, which takes its share of reads.
	IsSource bool

	dial     DialConfig
	admin    DialConfig // of what the proxy does of its own; dial's where it has no account for that
	pool     *pool.Pool[*Conn, *Setting]
	load     [loadCells]loadCell
	state    atomic.Uint32 // the verdict of the health checks
	unlooped atomic.Bool   // see KeepFromLoops
	// killsAsClients says that the server does not let the account for that end the clients' threads.
	killsAsClients atomic.Bool
	info           atomic.Pointer[Info]
	// answered is when a probe was last answered, in nanoseconds since 1970; 0: never.
	answered atomic.Int64
	known    chan struct{} // closed when info is set for the first time
	memory   memory
	// Variables are what is known of the server's, GTIDs what is of its transactions.
	Variables Variables
	GTIDs     *GTIDs
	stored    storedObjects
	// lag is that of a replica in nanoseconds, or one of the values below 0; lagMax is the bound of passedOver, 0: none.
	lag        atomic.Int64
	lagMax     time.Duration
	passedOver atomic.Bool
	open       *openConns // those of the instances before it at the address are among them
	// doubted is set while a probe waits for longer than usual.
	doubted    atomic.Bool
	lastResort atomic.Bool // reads may go there though it is passed over, while the primary is down
	// successor serves instead once a reload has retired this instance; nil before, or if nothing took its place.
	successor atomic.Pointer[Instance]
	// Hold has statements wait for a primary. Instances of a node share it.
	Hold *Hold
	Duty Duty
	// connectTimeout bounds a dial with its login.
	connectTimeout time.Duration
}

// Pooled is a connection on loan from an instance's pool.
type Pooled struct {
	*pool.Pooled[*Conn, *Setting]
	Instance *Instance
}

// PoolConfig are the limits of an instance's pool, and how the name of its server is looked up.
type PoolConfig struct {
	Max, Least                               int // connections; Least > 0: the limit is found between them
	ConnectTimeout, IdleTimeout, MaxLifetime time.Duration
	Hold                                     *Hold          // of the node; nil: nobody waits for a primary
	Names                                    resolve.Config // its Lookup and Every
}

func newInstance(node string, role Role, weight int, dial DialConfig, p PoolConfig) *Instance {
	i := &Instance{Hold: p.Hold, Node: node, Addr: dial.Addr, Role: role, Share: Share{Weight: weight}, dial: dial, admin: dial, connectTimeout: p.ConnectTimeout, known: make(chan struct{}), open: newOpenConns(), GTIDs: new(GTIDs)}
	if i.Hold == nil {
		i.Hold = new(Hold)
	}
	i.lag.Store(lagUnasked)
	i.stored.asked = make(chan struct{}, 1)
	var limit func(pool.Use) int
	if p.Least > 0 {
		i.Latency.adaptive = newAdaptive(p.Least, p.Max)
		limit = i.Latency.adaptive.limit
	}
	i.pool = pool.Open(pool.Config[*Conn, *Setting]{
		Dial:        func(deadline time.Time) (*Conn, error) { return i.Dial(0, deadline) },
		Max:         p.Max,
		Limit:       limit,
		DialTimeout: p.ConnectTimeout,
		IdleTimeout: p.IdleTimeout,
		MaxLifetime: p.MaxLifetime,
		Down:        func() bool { return i.State() == Down },
	})
	i.Name = resolve.Open(resolve.Config{Addr: i.Addr, Lookup: p.Names.Lookup, Every: p.Names.Every, Left: i.pool.CloseIdle})
	return i
}

// Dial opens a connection outside the pool; the caller closes it. It waits while as many others are being opened as may be at once, and ends
// with an error by the deadline, or when the node is cut off.
func (i *Instance) Dial(flags mysql.Capability, deadline time.Time) (*Conn, error) {
	o := i.open
	ctx, cancel := context.WithDeadline(o.dials, deadline)
	defer cancel()
	select {
	case o.dialling <- struct{}{}:
		defer func() { <-o.dialling }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return i.DialContext(ctx, flags)
}

// DialContext is Dial until ctx ends, which must have a deadline.
func (i *Instance) DialContext(ctx context.Context, flags mysql.Capability) (*Conn, error) {
	return i.as(ctx, &i.dial, flags)
}

// as logs in by one of the two accounts.
func (i *Instance) as(ctx context.Context, account *DialConfig, flags mysql.Capability) (*Conn, error) {
	nc, err := i.Name.Dial(ctx, &dialer)
	if err != nil {
		return nil, err
	}
	c, err := logIn(ctx, nc, account, flags, i.open, i.GTIDs)
	if err != nil {
		return nil, err
	}
	if known := i.info.Load(); known != nil && known.Version == c.Info.Version {
		c.Info = known
	}
	return c, nil
}

// Get borrows a connection that carries want. It waits for one until the deadline, or until cancel is closed, and
// returns it with Put or Taint. Of an instance that a reload has retired it is one to its successor. Errors are those of
// the pool, of the login, or a *mysql.SQLError of the server that refused the setting.
func (i *Instance) Get(want *Setting, deadline time.Time, cancel <-chan struct{}) (Pooled, error) {
	return i.get(want, deadline, cancel, false)
}

// GetAhead is Get for a session that holds other connections: it waits ahead of those that hold none.
func (i *Instance) GetAhead(want *Setting, deadline time.Time, cancel <-chan struct{}) (Pooled, error) {
	return i.get(want, deadline, cancel, true)
}

// TryGet borrows a connection that carries want if one is idle and nobody waits for one; it does not wait itself. Without
// one, full tells that Get would wait, too.
func (i *Instance) TryGet(want *Setting) (p Pooled, full bool) {
	if next := i.successor.Load(); i.State() == Down || next != nil && next.Addr != i.Addr {
		return Pooled{}, false
	}
	pc, full := i.pool.TryGet(want)
	return Pooled{pc, i}, full
}

// CheckIdle says that a connection to the instance was found dead: others that were used a moment ago are looked at before they are lent.
// What it had applied may be lost with it.
func (i *Instance) CheckIdle() {
	i.GTIDs.SetApplied(nil)
	i.pool.CheckIdle()
}

// Waiters is how many wait for a connection at the pool now.
func (i *Instance) Waiters() int { return i.pool.Waiters() }

// KeepFromLoops notes that event loops cannot read the instance's connections, because of TLS say.
func (i *Instance) KeepFromLoops() { i.unlooped.Store(true) }

// Unlooped tells whether that was noted.
func (i *Instance) Unlooped() bool { return i.unlooped.Load() }

// WhenWanted has f called each time that somebody begins to wait for a connection. f must not wait, nor use the instance.
func (i *Instance) WhenWanted(f func()) { i.pool.WhenWanted(f) }

// get lends a connection. Where there is no primary it waits for one, for which the deadline is put off.
func (i *Instance) get(want *Setting, deadline time.Time, cancel <-chan struct{}, ahead bool) (Pooled, error) {
	p, err := i.lend(want, deadline, cancel, ahead)
	if err == nil || !lacksPrimary(i, err) {
		return p, err
	}
	return await(i, err, deadline, cancel, func(deadline time.Time) (Pooled, error) { return i.lend(want, deadline, cancel, ahead) })
}

func (i *Instance) lend(want *Setting, deadline time.Time, cancel <-chan struct{}, ahead bool) (Pooled, error) {
	if next := i.successor.Load(); next != nil && (next.Addr != i.Addr || i.State() == Down) { // what has lost its role lends nothing until it is closed
		return next.lend(want, deadline, cancel, ahead)
	}
	if i.State() == Down {
		return Pooled{}, whyDown(i)
	}
	lend := i.pool.Get
	if ahead {
		lend = i.pool.GetAhead
	}
	pc, err := lend(want, deadline, cancel)
	if next := i.successor.Load(); next != nil && (errors.Is(err, pool.ErrClosed) || errors.Is(err, ErrDown)) {
		return next.lend(want, deadline, cancel, ahead)
	}
	if errors.Is(err, ErrDown) { // it went down meanwhile
		return Pooled{}, whyDown(i)
	}
	return i.carrying(pc, err, want, func() (*pool.Pooled[*Conn, *Setting], error) { return lend(want, deadline, cancel) })
}

// whyDown is the error of who wants a connection while an instance is down.
func whyDown(i *Instance) error {
	err := ErrDown
	switch {
	case i.HeldDown():
		err = ErrHeldDown
	case i.Duty.Paused():
		err = ErrPaused
	case i.Duty.withheld.Load():
		err = fmt.Errorf("%w: %s", ErrDown, i.Duty.Why())
	}
	return fmt.Errorf("%s %s of node %s: %w", i.Role, i.Addr, i.Node, err)
}

// carrying makes a connection that the pool gave carry want; if it turns out to be dead, one that again gives.
func (i *Instance) carrying(pc *pool.Pooled[*Conn, *Setting], err error, want *Setting, again func() (*pool.Pooled[*Conn, *Setting], error)) (Pooled, error) {
	if err != nil {
		return Pooled{}, fmt.Errorf("%s %s of node %s: %w", i.Role, i.Addr, i.Node, err)
	}
	p := Pooled{pc, i}
	if pc.Key == want {
		return p, nil
	}
	err = i.settle(p, want)
	for tries := 0; broke(err) && tries < i.pool.Stats().Max && i.State() != Down; tries++ {
		// The server has closed it a moment ago, perhaps with all others, and nothing but the proxy's own was sent.
		i.pool.CheckIdle()
		if pc, err = again(); err != nil {
			return Pooled{}, fmt.Errorf("%s %s of node %s: %w", i.Role, i.Addr, i.Node, err)
		}
		p = Pooled{pc, i}
		err = i.settle(p, want)
	}
	switch {
	case err == nil:
		return p, nil
	case broke(err) && i.State() == Down: // so that the statement waits for a primary
		return Pooled{}, whyDown(i)
	}
	return Pooled{}, err
}

// broke tells whether a connection broke, and not because its answer was too late.
func broke(err error) bool {
	var c *mysql.ConnError
	return errors.As(err, &c) && !errors.Is(err, os.ErrDeadlineExceeded)
}

// settle makes a connection of the pool carry want; after an error it is the pool's again, or closed.
func (i *Instance) settle(p Pooled, want *Setting) error {
	pc := p.Pooled
	if pc.Key.leaves(want) && p.Conn.Info.ResetConnection {
		p.Conn.Net.SetDeadline(time.Now().Add(i.connectTimeout))
		if err := p.Reset(); err != nil {
			p.Taint()
			return err
		}
		p.Conn.Net.SetDeadline(time.Time{})
	}
	err := p.Apply(want)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*noDatabaseError](err); ok {
		p.Put()
		return err
	}
	p.Taint()
	return err
}

// Apply makes the connection carry want. After an error the connection must be tainted, unless the server refused only the database of
// want, a noDatabaseError: then Key tells what it carries.
func (p Pooled) Apply(want *Setting) error {
	if p.Key == want {
		return nil
	}
	deadline := time.Now().Add(p.Instance.connectTimeout)
	if p.Conn.flags != want.Flags {
		// Only a new login changes these; the old connection goes first, so that the ceiling holds.
		_ = p.Conn.Close()
		c, err := p.Instance.Dial(want.Flags, deadline)
		if err != nil {
			return err
		}
		p.Conn, p.Key = c, nil
	}
	p.Conn.Net.SetDeadline(deadline)
	err := p.Conn.Apply(p.Key, want)
	if _, ok := errors.AsType[*noDatabaseError](err); ok {
		want = Intern(p.Key.Database(), want.Flags, want.Vars)
	} else if err != nil {
		return err
	}
	p.Conn.Net.SetDeadline(time.Time{})
	p.Key = want
	return err
}

// Reset resets the connection's session on its server, after which Key is what it carries. After an error it must be tainted.
func (p Pooled) Reset() error {
	db := p.Key.Database()
	if p.Conn.Info.ResetConnection {
		p.Key = Intern(db, p.Key.Flags, nil)
	} else {
		p.Key = nil
	}
	if err := p.Conn.Reset(); err != nil || p.Key == nil || db == "" {
		return err
	}
	// Servers keep the database, but give character_set_database and collation_database the server's values.
	return p.Conn.InitDB(db)
}

// Put gives the connection back between two commands, in the state that its Key says. A marked one is reset first.
func (p Pooled) Put() {
	if p.Conn.Marked {
		if err := p.Cleanse(); err != nil {
			p.Taint()
			return
		}
	}
	p.Conn.Diagnosed = 0
	p.Conn.Release()
	p.Instance.pool.Put(p.Pooled)
}

// Taint closes the connection instead of giving it back.
func (p Pooled) Taint() { p.Instance.pool.Taint(p.Pooled) }

// Info is what was learned of the instance last; nil before the first login of a probe.
func (i *Instance) Info() *Info { return i.info.Load() }

// SetInfo stores what a probe learned. Only the instance's one watcher calls it.
func (i *Instance) SetInfo(info *Info) {
	if i.info.Swap(info) == nil {
		close(i.known)
	}
}

// SetAnswered notes that a probe was answered at t. Only the instance's one watcher calls it.
func (i *Instance) SetAnswered(t time.Time) {
	i.answered.Store(t.UnixNano())
	i.open.hear(t)
	i.memory.late.Store(false)
	if i.Role == Primary {
		i.Hold.wake()
	}
}

// Answered is when a probe was last answered; the zero time if none was.
func (i *Instance) Answered() time.Time {
	if ns := i.answered.Load(); ns != 0 {
		return time.Unix(0, ns)
	}
	return time.Time{}
}

// Doubt notes whether a probe waits for longer than usual. Only the instance's one watcher calls it.
func (i *Instance) Doubt(yes bool) { i.doubted.Store(yes) }

// Doubted tells whether the instance is down, or may be: what another one can do as well is better done there.
func (i *Instance) Doubted() bool { return i.State() == Down || i.doubted.Load() }

// Known is closed once the instance has been probed with success for the first time.
func (i *Instance) Known() <-chan struct{} { return i.known }

// State is what statements go by: down by an operator, or while its duty is withheld, else the verdict of the health checks.
func (i *Instance) State() State {
	if i.Duty.heldDown.Load() || i.Duty.withheld.Load() {
		return Down
	}
	return i.Health()
}

// Health is the verdict of the health checks, of an instance that an operator took down too.
func (i *Instance) Health() State { return State(i.state.Load()) }

// SetState stores a verdict of the health checks. Connections of an instance that went down are closed, and nobody waits for one any more.
func (i *Instance) SetState(s State) {
	if State(i.state.Swap(uint32(s))) == s {
		return
	}
	if s == Down {
		i.pool.CloseIdle()
		i.pool.Dismiss()
	} else if i.Role == Primary {
		i.Hold.wake()
	}
}

// HeldDown tells whether an operator took the instance down.
func (i *Instance) HeldDown() bool { return i.Duty.heldDown.Load() }

// HoldDown takes the instance down until it is called with false, for all new statements: idle connections are closed,
// those on loan when they come back, and nobody waits for one any more. It tells whether that changed anything.
func (i *Instance) HoldDown(down bool) (changed bool) {
	if i.Duty.heldDown.Swap(down) == down {
		return false
	}
	if down {
		i.pool.CloseIdle()
		i.pool.Dismiss()
	}
	i.Hold.wake() // who hears why, or finds it
	return true
}

// Stats are the pool's counts.
func (i *Instance) Stats() pool.Stats { return i.pool.Stats() }
