package pool

import (
	"sync/atomic"
	"testing"
	"time"
)

// Who waits for a connection to a server that goes down hears of it at once, and who comes then; what is on loan goes on.
func TestDown(t *testing.T) {
	var down atomic.Bool
	inBubble(t, Config[*fakeConn, string]{Max: 1, Down: down.Load}, func(t *testing.T, p *testPool, s *server) {
		lent := get(t, p, "")
		first, second := start(p, "", time.Hour, nil), start(p, "x", time.Hour, nil)
		down.Store(true)
		p.Dismiss()
		if a, b := answered(t, first), answered(t, second); a.err != ErrDown || b.err != ErrDown {
			t.Errorf("who waits: %+v, %+v", a, b)
		}
		if _, err := p.Get("", in(time.Hour), nil); err != ErrDown {
			t.Errorf("who comes: %v", err)
		}
		if lent.Conn.closed.Load() {
			t.Error("a connection on loan was closed")
		}
		down.Store(false)
		third := start(p, "", time.Hour, nil)
		p.Put(lent)
		r := answered(t, third)
		if r.err != nil {
			t.Fatal(r.err)
		}
		p.Put(r.pc)
		down.Store(true) // and what is idle is not lent
		if pc, full := p.TryGet(""); pc != nil || full {
			t.Errorf("without a wait: %v, full %v", pc, full)
		}
		if _, err := p.Get("", in(time.Hour), nil); err != ErrDown {
			t.Errorf("of what is idle: %v", err)
		}
		if st := p.Stats(); st.Waiting != 0 || st.Gets[Refused].N != 4 {
			t.Errorf("%+v", st)
		}
	})
}
