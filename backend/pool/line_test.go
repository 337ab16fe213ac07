package pool

import (
	"errors"
	"sync"
	"testing"
	"time"
)

type (
	testLine  = Line[*fakeConn, string]
	testPlace = Place[*fakeConn, string]
)

// told is a line whose answers are noted in their order.
type told struct {
	testLine
	mu   sync.Mutex
	list []*testPlace
}

// lineLen is how many wait in a line.
func lineLen(p *testPool, l *told) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w := l.first; w != nil; w = w.lineNext {
		n++
	}
	return n
}

func newTold() *told {
	l := new(told)
	l.Tell = func(pl *testPlace) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.list = append(l.list, pl)
	}
	return l
}

// next gives the first answer that has not been taken; nil if there is none.
func (l *told) next() *testPlace {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == 0 {
		return nil
	}
	pl := l.list[0]
	l.list = l.list[1:]
	return pl
}

func enqueue(t *testing.T, p *testPool, l *told, patience time.Duration) *testPlace {
	t.Helper()
	pl := new(testPlace)
	if err := p.Enqueue(pl, &l.testLine, in(patience)); err != nil {
		t.Fatal(err)
	}
	return pl
}

// Goroutines and lines wait in one queue. What comes back from a line goes to the first of it, but not past those who have waited for more
// than lineAhead longer, nor past those who hold other connections.
func TestLinesAndGoroutinesShareTheQueue(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "a")
		pc.Key = "a"
		here, there := newTold(), newTold()
		long := start(p, "a", time.Minute, nil)
		time.Sleep(2 * lineAhead)
		other := enqueue(t, p, there, time.Minute)
		first, second := enqueue(t, p, here, time.Minute), enqueue(t, p, here, time.Minute)
		if n := p.Waiters(); n != 4 || lineLen(p, here) != 2 || p.Stats().Waiting != 4 {
			t.Fatalf("%d wait, %d in the line", n, lineLen(p, here))
		}
		if pl := p.PutFrom(pc, &here.testLine); pl != nil {
			t.Fatal("the line went ahead of one who has waited for longer")
		}
		if r := answered(t, long); r.pc != pc {
			t.Fatalf("%+v", r)
		}
		if pl := p.PutFrom(pc, &here.testLine); pl != first {
			t.Fatal("the line did not go ahead of one who came with it")
		}
		if lineLen(p, here) != 1 || here.next() != nil {
			t.Error("who is served by its own line is still in it, or was told")
		}
		p.Put(pc)
		if there.next() != other || p.Answered(other, "b") != nil || p.Answered(other, "a") != pc {
			t.Fatal("the other line was passed over")
		}
		if pl := p.PutFrom(pc, &here.testLine); pl != second {
			t.Fatal("the second of the line was not served")
		}
		if pl := p.PutFrom(pc, &here.testLine); pl != nil || p.Waiters() != 0 {
			t.Error("somebody is left")
		}
		if st := p.Stats(); st.Idle != 1 || st.Gets[Waited].N != 4 {
			t.Errorf("%+v", st)
		}
	})
}

func TestPlacesAreLeftAndDeclined(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		l := newTold()
		left, declined, shared := enqueue(t, p, l, time.Minute), enqueue(t, p, l, time.Minute), enqueue(t, p, l, time.Minute)
		late := enqueue(t, p, l, time.Second)
		last := start(p, "", time.Minute, nil)
		if !left.Leave() || left.Leave() || !shared.Share() || lineLen(p, l) != 2 {
			t.Fatalf("%d in the line", lineLen(p, l))
		}
		p.Put(pc)
		if l.next() != declined || declined.Leave() {
			t.Fatal("the first that is left was not answered")
		}
		time.Sleep(2 * time.Second)
		declined.Decline()
		if l.next() != late {
			t.Fatal("the one whose time was over was not told")
		}
		if _, err := p.Take(late, in(time.Second), nil); !errors.Is(err, ErrTimeout) {
			t.Errorf("%v", err)
		}
		if r := answered(t, last); r.pc != pc {
			t.Fatalf("%+v", r)
		}
		p.Put(pc)
	})
}

// A place may be answered by the right to open a connection, which Take does, or Decline gives up for the next.
func TestPlacesThatMayDial(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		pc := get(t, p, "")
		l := newTold()
		first, second := enqueue(t, p, l, time.Minute), enqueue(t, p, l, time.Minute)
		p.Taint(pc)
		if l.next() != first || p.Answered(first, "") != nil || l.next() != nil {
			t.Fatal("not exactly the first was told")
		}
		first.Decline()
		if l.next() != second {
			t.Fatal("the second was not told")
		}
		taken, err := p.Take(second, in(time.Second), nil)
		if err != nil || taken.Conn.id != 1 {
			t.Fatalf("%+v, %v", taken, err)
		}
		third := enqueue(t, p, l, time.Minute)
		p.Drain()
		if l.next() != third {
			t.Fatal("the end of the pool was not told")
		}
		if _, err := p.Take(third, in(time.Second), nil); !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
		if err := p.Enqueue(new(testPlace), &l.testLine, in(time.Second)); !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
		p.Put(taken)
	})
}

// Nobody stands in line beside an idle connection, where nobody might come by to give one back.
func TestNoPlaceBesideAnIdleConnection(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 1}, func(t *testing.T, p *testPool, s *server) {
		fill(t, p, "a")
		if err := p.Enqueue(new(testPlace), &newTold().testLine, in(time.Second)); err != ErrIdle || p.Waiters() != 0 {
			t.Errorf("%v, %d wait", err, p.Waiters())
		}
	})
}

// Lines, each on a goroutine as an event loop is, and goroutines take turns with few connections: all are served, and none is used twice at a
// time.
func TestLinesUnderLoad(t *testing.T) {
	s := &server{}
	p := Open(Config[*fakeConn, string]{Max: 3, Dial: s.dial})
	defer p.Close()
	var inUse sync.Map
	use := func(pc *testPooled) {
		if _, used := inUse.LoadOrStore(pc, true); used {
			t.Error("a connection is used twice")
		}
		inUse.Delete(pc)
	}
	const turns = 2000
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			wake := make(chan *testPlace, 8)
			l := &testLine{Tell: func(pl *testPlace) { wake <- pl }}
			served, waiting := 0, 0
			give := func(pc *testPooled) {
				for pc != nil {
					use(pc)
					served++
					waiting--
					if p.PutFrom(pc, l) == nil {
						pc = nil
					}
				}
			}
			for served < turns {
				for range 4 {
					err := p.Enqueue(new(testPlace), l, time.Now().Add(time.Minute))
					if errors.Is(err, ErrIdle) {
						break
					}
					if err != nil {
						t.Error(err)
						return
					}
					waiting++
				}
				if waiting == 0 {
					pc, err := p.Get("", time.Now().Add(time.Minute), nil)
					if err != nil {
						t.Error(err)
						return
					}
					waiting++
					give(pc)
				}
				for waiting > 0 {
					pl := <-wake
					pc := p.Answered(pl, "")
					if pc == nil {
						var err error
						if pc, err = p.Take(pl, time.Now().Add(time.Minute), nil); err != nil {
							t.Error(err)
							return
						}
					}
					give(pc)
				}
			}
		})
		all.Go(func() {
			for range turns {
				pc, err := p.Get("", time.Now().Add(time.Minute), nil)
				if err != nil {
					t.Error(err)
					return
				}
				use(pc)
				p.Put(pc)
			}
		})
	}
	all.Wait()
	if st := p.Stats(); st.InUse != 0 || st.Waiting != 0 || s.peak > 3 {
		t.Errorf("%+v, at most %d open", st, s.peak)
	}
}
