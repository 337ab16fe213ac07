package fastlane

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"kingshard/mysql/rawio"
)

// eventsMax is how many events one wait gives.
const eventsMax = 128

// napMax is how long a nap keeps the processor of the Go scheduler, in milliseconds: a wait that the scheduler is told of costs
// more than the event that ends it, as others look for something to run on that processor. Ten milliseconds is when the
// scheduler takes the processor from who does not give it back.
const napMax = 10

// emptyNaps is the number of naps without an event, or cut short by the scheduler, after which the loop waits.
const emptyNaps = 10

// waitMax is how long a loop waits without a tick, in milliseconds.
const waitMax = 1 << 20

// yieldEvery is the number of rounds without a wait after which a loop lets other goroutines run.
const yieldEvery = 256

// events are what connections are watched for, once and for all: the loop hears of changes only.
const events = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff

// wakeFD stands for the loop's own descriptor in an event.
const wakeFD = -1

// Loop is one goroutine over one epoll instance. Its methods are called on the loop, in a Handler or a Ticker, but for
// Adopt and TickNow.
type Loop struct {
	group  *Group
	index  uint32
	epoll  int
	wake   int // an eventfd
	ticker Ticker
	done   chan struct{}

	stopping atomic.Bool
	poked    atomic.Bool // the eventfd was written to, and not yet read

	again  []*Conn // parked with something left to read
	spare  []*Conn
	woken  int           // goroutines woken in this round
	wakes  atomic.Uint64 // goroutines woken in the rounds before
	tickAt time.Time
	ticks  bool // tickAt is set
	ending bool // AtRoundEnd was called
	gathered

	mu     sync.Mutex
	posted []*Conn // closed while they were parked
	tick   bool    // somebody asked for a tick
}

func openLoop(g *Group, index uint32) (*Loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	l := &Loop{group: g, index: index, epoll: epoll, wake: -1, done: make(chan struct{})}
	if l.wake, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err == nil {
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, l.wake, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: wakeFD})
	}
	if err != nil {
		l.free()
		return nil, err
	}
	l.batch, l.alone = rawio.OpenBatch()
	return l, nil
}

func (l *Loop) free() {
	if l.wake >= 0 {
		_ = unix.Close(l.wake)
	}
	_ = unix.Close(l.epoll)
	if l.batch != nil {
		l.batch.Close()
	}
}

// Ticker is the one that the loop was opened with.
func (l *Loop) Ticker() Ticker { return l.ticker }

// After asks for a tick when d has passed, in steps of a millisecond; an earlier one that was asked for stays.
func (l *Loop) After(d time.Duration) {
	at := time.Now().Add(max(d, tickMin))
	if !l.ticks || at.Before(l.tickAt) {
		l.tickAt, l.ticks = at, true
	}
}

// AtRoundEnd asks for a call of Ticker.Round at the end of this round.
func (l *Loop) AtRoundEnd() { l.ending = true }

// Woke says that a handler has given work to a goroutine: the loop lets it run soon.
func (l *Loop) Woke() { l.woken++ }

// TickNow asks for a tick at once; any goroutine may call it.
func (l *Loop) TickNow() {
	l.mu.Lock()
	l.tick = true
	l.mu.Unlock()
	l.interrupt()
}

// post has the loop look at a connection that was closed.
func (l *Loop) post(c *Conn) {
	l.mu.Lock()
	l.posted = append(l.posted, c)
	l.mu.Unlock()
	l.interrupt()
}

// interrupt ends the loop's wait.
func (l *Loop) interrupt() {
	if l.poked.Swap(true) {
		return
	}
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(l.wake, one[:])
}

// watch begins to tell the loop of a connection's events. What has happened before counts as an event.
func (l *Loop) watch(c *Conn) error {
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{Events: uint32(events), Fd: int32(c.fd), Pad: c.seq})
}

// watchAgain has the loop hear once more of a connection that it watches already.
func (l *Loop) watchAgain(c *Conn) error {
	return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_MOD, c.fd, &unix.EpollEvent{Events: uint32(events), Fd: int32(c.fd), Pad: c.seq})
}

func (l *Loop) unwatch(c *Conn) error { return unix.EpollCtl(l.epoll, unix.EPOLL_CTL_DEL, c.fd, nil) }

// run is the loop.
func (l *Loop) run() {
	defer close(l.done)
	defer l.free()
	var list [eventsMax]unix.EpollEvent
	rounds, empty := 0, 0
	for !l.stopping.Load() {
		n := 0
		switch {
		case len(l.again) > 0:
			n = l.nap(list[:], 0)
		case empty < emptyNaps && l.index < l.group.naps.Load():
			if n = l.nap(list[:], min(l.timeout(), napMax)); n == 0 {
				empty++
			}
		default:
			n, rounds = l.wait(list[:]), 0
		}
		if n > 0 {
			empty = 0
		}
		for k := range n {
			l.event(&list[k])
		}
		l.repeat()
		if l.ticks && !time.Now().Before(l.tickAt) {
			l.runTick()
		}
		if l.ending {
			l.ticker.Round(l)
			l.ending = false
		}
		if rounds++; l.woken > 0 || rounds >= yieldEvery {
			if l.woken > 0 {
				l.wakes.Add(uint64(l.woken))
			}
			l.woken, rounds = 0, 0
			runtime.Gosched()
		}
	}
	l.ticker.Stop(l)
}

// nap waits at most so many milliseconds for events. The scheduler is not told of the wait; it can interrupt it.
func (l *Loop) nap(list []unix.EpollEvent, timeout int) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.epoll), uintptr(unsafe.Pointer(&list[0])), uintptr(len(list)), uintptr(timeout), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// wait waits for events or the next tick.
func (l *Loop) wait(list []unix.EpollEvent) int {
	n, err := unix.EpollWait(l.epoll, list, l.timeout())
	if err != nil {
		return 0
	}
	return n
}

// timeout is the time until the next tick in milliseconds, or long.
func (l *Loop) timeout() int {
	if !l.ticks {
		return waitMax
	}
	return int(max(0, time.Until(l.tickAt)+tickMin-1) / tickMin)
}

// repeat calls the handlers of connections that were parked with something left to read.
func (l *Loop) repeat() {
	if len(l.again) == 0 {
		return
	}
	list := l.again
	l.again = l.spare[:0]
	for _, c := range list {
		c.readable(l)
	}
	clear(list)
	l.spare = list[:0]
}

// event tells a connection of what happened to it.
func (l *Loop) event(e *unix.EpollEvent) {
	if e.Fd == wakeFD {
		l.interrupted()
		return
	}
	c := l.group.conns.get(e.Fd, e.Pad)
	if c == nil || c.loop.Load() != l {
		return
	}
	const gone = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	if e.Events&gone != 0 {
		c.gone.Store(true)
	}
	if e.Events&(unix.EPOLLOUT|unix.EPOLLHUP|unix.EPOLLERR) != 0 && c.out.ready() {
		l.woken++
	}
	if e.Events&(unix.EPOLLIN|gone) != 0 {
		c.readable(l)
	}
}

// interrupted does what others have asked for.
func (l *Loop) interrupted() {
	var b [8]byte
	_, _ = unix.Read(l.wake, b[:])
	l.poked.Store(false)
	l.mu.Lock()
	posted, tick := l.posted, l.tick
	l.posted, l.tick = nil, false
	l.mu.Unlock()
	for _, c := range posted {
		c.readable(l)
	}
	if tick {
		l.runTick()
	}
}

func (l *Loop) runTick() {
	l.ticks = false
	l.ticker.Tick(l)
}
