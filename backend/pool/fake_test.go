package pool

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errRefused = errors.New("connection refused")

// server makes connections and counts them.
type server struct {
	mu        sync.Mutex
	open      int
	peak      int
	dialling  int
	dialsPeak int
	dials     int
	err       error         // dials fail with it
	delay     time.Duration // dials take as long, or until their deadline
	deadline  time.Time     // of the last dial
	conns     []*fakeConn
}

type fakeConn struct {
	id     int
	server *server
	closed atomic.Bool
	dead   atomic.Bool
	checks atomic.Int32
}

func (s *server) dial(deadline time.Time) (*fakeConn, error) {
	s.mu.Lock()
	s.dials++
	s.dialling++
	s.dialsPeak = max(s.dialsPeak, s.dialling)
	s.open++
	s.peak = max(s.peak, s.open)
	s.deadline = deadline
	delay := s.delay
	s.mu.Unlock()
	late := delay > 0 && time.Until(deadline) < delay
	if delay > 0 {
		time.Sleep(min(delay, time.Until(deadline)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dialling--
	if late || s.err != nil {
		s.open--
		if late {
			return nil, errors.New("dial timed out")
		}
		return nil, s.err
	}
	c := &fakeConn{id: len(s.conns), server: s}
	s.conns = append(s.conns, c)
	return c, nil
}

func (s *server) set(err error, delay time.Duration) {
	s.mu.Lock()
	s.err, s.delay = err, delay
	s.mu.Unlock()
}

func (s *server) count() (dials, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dials, s.open
}

func (c *fakeConn) Alive() bool { c.checks.Add(1); return !c.dead.Load() && !c.closed.Load() }

func (c *fakeConn) Close() error {
	if c.closed.Swap(true) {
		panic("closed twice")
	}
	c.server.mu.Lock()
	c.server.open--
	c.server.mu.Unlock()
	return nil
}

type (
	testPool   = Pool[*fakeConn, string]
	testPooled = Pooled[*fakeConn, string]
)

// inBubble runs f with a pool on a fake clock, and checks at the end that Close leaves nothing open.
func inBubble(t *testing.T, cfg Config[*fakeConn, string], f func(t *testing.T, p *testPool, s *server)) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		cfg.Dial = s.dial
		p := Open(cfg)
		defer func() {
			p.Close()
			synctest.Wait()
			if st := p.Stats(); st.Idle != 0 || st.Waiting != 0 || st.Dialling != 0 || st.Open != st.InUse {
				t.Errorf("after Close: %+v", st)
			}
		}()
		f(t, p, s)
	})
}

func in(d time.Duration) time.Time { return time.Now().Add(d) }

// get borrows without patience for more than a second.
func get(t *testing.T, p *testPool, want string) *testPooled {
	t.Helper()
	pc, err := p.Get(want, in(time.Second), nil)
	if err != nil {
		t.Fatalf("Get(%q): %v", want, err)
	}
	return pc
}

// result is what a Get in the background gave.
type result struct {
	pc  *testPooled
	err error
	at  time.Time
}

// start begins a Get in the background and returns when it waits or is done.
func start(p *testPool, want string, patience time.Duration, cancel <-chan struct{}) <-chan result {
	return startBy(p.Get, want, patience, cancel)
}

// startBy asks for a connection by get on a goroutine of its own, and returns when that has an answer, which is in the channel, or waits.
func startBy(get func(string, time.Time, <-chan struct{}) (*testPooled, error), want string, patience time.Duration, cancel <-chan struct{}) <-chan result {
	ch := make(chan result, 1)
	deadline := in(patience)
	go func() {
		pc, err := get(want, deadline, cancel)
		ch <- result{pc, err, time.Now()}
	}()
	synctest.Wait()
	return ch
}

// pending fails the test if ch has been answered.
func pending(t *testing.T, ch <-chan result) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-ch:
		t.Fatalf("answered: %+v", r)
	default:
	}
}

// answered gives the result that must be there by now.
func answered(t *testing.T, ch <-chan result) result {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-ch:
		return r
	default:
		t.Fatal("not answered")
		return result{}
	}
}
