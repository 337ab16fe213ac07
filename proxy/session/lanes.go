package session

import (
	"runtime"
	"sync"
	"syscall"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/fastlane"
)

// Lanes are the fast lane: loops that hold the sessions which wait for a command and run their plain statements, and
// goroutines to which the loops hand everything else. docs/design/fast-lane.md tells how they work together.
type Lanes struct {
	group   *fastlane.Group
	running sync.WaitGroup // the loops, and goroutines that have work or wait for it
	work    chan *laned    // to a goroutine that has nothing to do
	stop    chan struct{}
	closing sync.Once

	mu      sync.Mutex
	members int // sessions that a loop may hold
	closed  bool
	empty   chan struct{} // closed when closed and no member is left

	spare chan struct{} // takes one for each goroutine that waits for work
	asks  chan struct{} // and for each question what a statement is
}

// OpenLanes starts so many loops. Close stops them.
func OpenLanes(loops int) (*Lanes, error) {
	l := &Lanes{
		work: make(chan *laned), stop: make(chan struct{}), empty: make(chan struct{}),
		spare: make(chan struct{}, 8*runtime.GOMAXPROCS(0)), asks: make(chan struct{}, asksMax),
	}
	var err error
	l.group, err = fastlane.Open(loops, l.running.Go, func(loop *fastlane.Loop) fastlane.Ticker { return newLoopState(l, loop) })
	if err != nil {
		return nil, err
	}
	return l, nil
}

// Use sets how many of the loops hold sessions; those in others move with their next statement.
func (l *Lanes) Use(loops int) { l.group.Use(loops) }

// Nap sets how many of the loops have a place of the Go scheduler to keep while they wait for a moment.
func (l *Lanes) Nap(loops int) { l.group.Nap(loops) }

// Gathered is how many writes were made together with others so far.
func (l *Lanes) Gathered() uint64 { return l.group.Gathered() }

// Alone is why the loops make each write by a system call of its own; nil if they make what a round has by one.
func (l *Lanes) Alone() error { return l.group.Alone() }

// Wakes is how often the loops have woken a goroutine so far.
func (l *Lanes) Wakes() uint64 { return l.group.Wakes() }

// Drain waits until the sessions in the lanes, which may be nil, have ended, which the caller sees to. No more can join.
func (l *Lanes) Drain() {
	if l == nil {
		return
	}
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		if l.members == 0 {
			close(l.empty)
		}
	}
	l.mu.Unlock()
	<-l.empty
}

// Close drains the lanes, which may be nil, and stops the loops. Backend connections that were in a loop once need it to be read, so that nobody may use
// these any more.
func (l *Lanes) Close() {
	if l == nil {
		return
	}
	l.Drain()
	l.closing.Do(func() {
		l.group.Close()
		close(l.stop)
		l.running.Wait()
	})
}

// join makes a session a member; false once the lanes close.
func (l *Lanes) join() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.members++
	return true
}

func (l *Lanes) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.members--; l.members == 0 && l.closed {
		close(l.empty)
	}
}

// run has a goroutine take the session's next step.
func (l *Lanes) run(la *laned) {
	select {
	case l.work <- la:
	default:
		l.running.Go(func() { l.serve(la) })
	}
}

// serve is a goroutine that runs sessions which a loop has handed over. A few of them wait for more when they are done:
// their stacks have grown already.
func (l *Lanes) serve(la *laned) {
	var patience *time.Timer
	for {
		la.goOn(la.next)
		select {
		case l.spare <- struct{}{}:
		default:
			return
		}
		if patience == nil {
			patience = time.NewTimer(sparePatience)
			defer patience.Stop()
		} else {
			patience.Reset(sparePatience)
		}
		select {
		case la = <-l.work:
			<-l.spare
		case <-patience.C:
			<-l.spare
			return
		case <-l.stop:
			return
		}
	}
}

// sparePatience is how long a goroutine without work waits for more.
const sparePatience = time.Second

// wanted is called when somebody begins to wait for a connection that a loop may have to spare.
func (l *Lanes) wanted() {
	for _, loop := range l.group.Loops() {
		if loop.Ticker().(*loopState).holding.Load() {
			loop.TickNow()
		}
	}
}

// laned is a session in a lane: its loop reads the commands there, and runs those that are one exchange, or a short one with each of a few
// shards. All else it hands to a goroutine, as the session's next step.
type laned struct {
	*Session
	conn *fastlane.Conn // nil: the session is always on a goroutine
	// next is the step for the goroutine that the session was handed to; end is that of stepEnd.
	next step
	end  *endError
}

// ahead is what a loop knows and has for the statement under way, ahead of its pool.
type ahead struct {
	command mysql.Command
	// digested says that the lookup's digest is the statement's: its plan was looked for by it.
	digested bool
	text     string // the client's
	// point, if set, is what allows the statement to share a connection.
	point *pointRead
	// loopConn is the connection that the loop runs it on; nil once a goroutine has the statement.
	lease *loopConn
	// begun says that the statement is known to others as the session's.
	begun bool
	// since is when the statement began to wait in a loop for a connection; zero if it did not.
	since time.Time
	// instance is the one that the loop chose for the statement, nil before.
	instance *backend.Instance
	// offer is a connection that the loop had for the statement but that is not ready to run it.
	offer offer
}

// ahead returns what a loop knows and has for the statement under way.
func (c *client) ahead() *ahead { return &c.task().ahead }

// enterLane makes the session one that a loop may hold, if its connection can be in a loop: there is nothing between it and
// the packets but, perhaps, TLS.
func (la *laned) enterLane() {
	l := la.client.shared.Lanes
	if l == nil || la.client.entry.AdminOnly() {
		return
	}
	la.client.entry.SwapClient(func() bool {
		nc := la.client.conn.Net.Pollable()
		if nc == nil || !l.join() {
			return false
		}
		c, err := l.group.Adopt(nc)
		if err != nil {
			l.leave()
			la.client.shared.Log.Warn("a session stays out of the fast lane", "conn", la.client.id, "error", err)
			return false
		}
		la.client.conn.Net.Rebase(c)
		la.conn = c
		return true
	})
	if la.conn != nil && la.client.conn.Net.Bare() == nil {
		_ = la.client.conn.ReadNow() // what TLS has read of the next command; a failure shows again
	}
}

// leaveLane ends what enterLane began.
func (la *laned) leaveLane() {
	if la.conn != nil {
		la.conn = nil
		la.client.shared.Lanes.leave()
	}
}

// park gives the session to its loop until the next command, if nothing but the client binds it. Whatever it returns, the
// session is the loop's when it is true.
func (la *laned) park() bool {
	if la.conn == nil || la.client.txn.Holding() || la.client.txn.HasOthers() || la.client.txn.InTransaction() || la.client.conn.Buffered() > 0 {
		return false
	}
	if la.conn.Park(la) {
		return true
	}
	// The loop may have told late of what is read already.
	return la.client.conn.ReadNow() == syscall.EAGAIN && la.client.conn.Buffered() == 0 && la.conn.Park(la)
}

// handOver gives the session to a goroutine, which begins with next.
func (la *laned) handOver(l *fastlane.Loop, next step) {
	la.client.observed.Counters.Handed.Add(1)
	if t := la.client.tasked; next == stepServe && t != nil { // the goroutine reads the command anew
		t.looking = looking{}
		if t.query.ids.drawn() && !t.query.ids.sent {
			la.routing.undraw(&t.query)
		}
	}
	la.next = next
	la.client.shared.Lanes.run(la)
	l.Woke()
}
