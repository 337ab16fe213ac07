package pool

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestIdleTimeout(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 40, IdleTimeout: 20 * time.Second}, func(t *testing.T, p *testPool, s *server) {
		keys := make([]string, 40)
		pcs := fill(t, p, keys...)
		last := 40
		step := func() int { // a pass, then how many are open
			time.Sleep(2 * time.Second)
			synctest.Wait()
			_, open := s.count()
			if gone := last - open; gone > max(1, last/10) {
				t.Errorf("%d of %d idle connections closed in one pass", gone, last)
			}
			last = open
			return open
		}
		for range 9 {
			if step() != 40 {
				t.Fatal("closed before the timeout")
			}
		}
		for range 60 {
			step()
		}
		if last != 0 {
			t.Errorf("%d left", last)
		}
		for i, pc := range pcs {
			if !pc.Conn.closed.Load() {
				t.Errorf("connection %d is open", i)
			}
		}
		if got := p.Stats().Closed[ClosedIdle]; got != 40 {
			t.Errorf("%d counted", got)
		}
	})
}

func TestMaxLifetime(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 50, MaxLifetime: time.Hour}, func(t *testing.T, p *testPool, s *server) {
		pcs := fill(t, p, make([]string, 50)...)
		var least, most time.Duration = time.Hour, 0
		for _, pc := range pcs {
			age := pc.expires - pc.idleSince
			least, most = min(least, age), max(most, age)
		}
		if least < 53*time.Minute || most > 67*time.Minute || most-least < 4*time.Minute {
			t.Errorf("lifetimes from %v to %v", least, most)
		}
		lent := get(t, p, "")
		time.Sleep(53 * time.Minute)
		synctest.Wait()
		if _, open := s.count(); open != 50 {
			t.Errorf("%d open before their time", open)
		}
		time.Sleep(27 * time.Minute)
		synctest.Wait()
		if _, open := s.count(); open != 1 {
			t.Errorf("%d open after their time, want the one on loan", open)
		}
		p.Put(lent)
		if _, open := s.count(); open != 0 || !lent.Conn.closed.Load() {
			t.Error("a connection past its lifetime went back")
		}
		if got := p.Stats().Closed[ClosedLifetime]; got != 50 {
			t.Errorf("%d counted", got)
		}
	})
}

func TestNoTimeouts(t *testing.T) {
	inBubble(t, Config[*fakeConn, string]{Max: 3}, func(t *testing.T, p *testPool, s *server) {
		fill(t, p, "", "", "")
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		if _, open := s.count(); open != 3 {
			t.Errorf("%d open", open)
		}
	})
}

func TestTrimInterval(t *testing.T) {
	for _, c := range []struct{ idle, life, want time.Duration }{
		{0, 0, 0},
		{time.Minute, 0, 6 * time.Second},
		{0, time.Minute, 6 * time.Second},
		{time.Hour, time.Minute, 6 * time.Second},
		{time.Minute, time.Hour, 6 * time.Second},
		{time.Hour, time.Hour, trimIntervalMax},
		{time.Millisecond, 0, trimIntervalMin},
	} {
		if got := trimInterval(c.idle, c.life); got != c.want {
			t.Errorf("trimInterval(%v, %v) = %v, want %v", c.idle, c.life, got, c.want)
		}
	}
}
