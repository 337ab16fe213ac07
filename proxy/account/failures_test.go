package account

import (
	"net/netip"
	"slices"
	"testing"
	"time"
)

// clocked are Failures whose clock goes on as it is told.
func clocked() (*Failures, *time.Time) {
	now := time.Unix(1e9, 0)
	return &Failures{now: func() time.Time { return now }}, &now
}

const most = 3 * time.Second

var (
	attacker  = netip.MustParseAddr("203.0.113.7")
	elsewhere = netip.MustParseAddr("203.0.113.8")
)

// The answers to one who tries one password after the other wait ever longer, and it is never refused.
func TestDelaysGrow(t *testing.T) {
	f, now := clocked()
	var delays []time.Duration
	for range 10 {
		if wait, ok := f.Turn(attacker, "root", most); wait > 0 || !ok {
			t.Fatalf("in turn after %v", delays)
		}
		d := f.Failed(attacker, "root", most)
		delays = append(delays, d/time.Millisecond)
		*now = now.Add(d)
	}
	if want := []time.Duration{0, 0, 100, 200, 400, 800, 1600, 3000, 3000, 3000}; !slices.Equal(delays, want) {
		t.Errorf("delays %d ms, want %d", delays, want)
	}
	if d := f.Failed(elsewhere, "root", most); d != 0 || !atOnce(f, elsewhere, "root") {
		t.Errorf("the same user from elsewhere waits %v", d)
	}
	if d := f.Failed(netip.Addr{}, "root", most); d != 0 {
		t.Errorf("over a unix socket: %v", d)
	}
	if d := f.Failed(attacker, "root", 0); d != 0 {
		t.Errorf("switched off: %v", d)
	}
	*now = now.Add(failuresKept)
	if d := f.Failed(attacker, "root", most); d != 0 {
		t.Errorf("after a quiet while: %v", d)
	}
	if got := f.Counts(); got.Failed != 14 || got.Sources != 2 || got.Refused != 0 {
		t.Errorf("counts %+v", got)
	}
}

// atOnce tells whether a password is looked at without waiting for a turn.
func atOnce(f *Failures, addr netip.Addr, user string) bool {
	wait, ok := f.Turn(addr, user, most)
	return ok && wait == 0
}

// However many connections somebody has, the number of passwords tried from an address is bounded, others are let in, and so is
// who has logged in from there before.
func TestManyAbreast(t *testing.T) {
	f, now := clocked()
	f.Good(attacker, "app")
	tried := 0
	for range 3600 {
		for range 200 {
			if _, ok := f.Turn(attacker, "root", most); ok {
				tried++
				f.Failed(attacker, "root", most)
			}
		}
		if !atOnce(f, elsewhere, "root") {
			t.Fatal("others wait")
		}
		if !atOnce(f, attacker, "app") {
			t.Fatal("a user who logged in from there before waits")
		}
		*now = now.Add(time.Second)
	}
	bound := int(3600*time.Second/turnEach) + int(turnMost/turnEach) + 200
	if tried > bound || tried < bound/2 {
		t.Errorf("%d passwords tried in an hour, the bound is %d", tried, bound)
	}
	if got := f.Counts(); got.Refused == 0 || got.Queued == 0 {
		t.Errorf("counts %+v", got)
	}
	// A burst that came before its first failure was known is paid for, within bounds.
	for range 100_000 {
		f.Failed(attacker, "root", most)
	}
	*now = now.Add(inTurnMost - most - time.Second)
	for range 2 {
		if _, ok := f.Turn(attacker, "root", most); !ok {
			t.Error("refused with nobody waiting")
		}
	}
	if atOnce(f, attacker, "root") {
		t.Error("a burst is forgotten")
	}
	*now = now.Add(2 * time.Second)
	if !atOnce(f, attacker, "root") {
		t.Error("in turn for longer than the bound")
	}
}

// A good login waits for its turn at most, behind as many clients as fail in a row, and is never refused for them.
func TestGoodLoginsAmongFailures(t *testing.T) {
	f, now := clocked()
	again := make([]time.Time, 30) // when each of the failing clients tries again
	var longest time.Duration
	for tick := range 2 * 60 * 100 {
		for k := range again {
			if now.Before(again[k]) {
				continue
			}
			wait, ok := f.Turn(attacker, "health", most)
			if !ok {
				t.Fatal("refused")
			}
			again[k] = now.Add(wait + f.Failed(attacker, "health", most))
		}
		*now = now.Add(10 * time.Millisecond)
		if tick%100 != 0 {
			continue
		}
		wait, ok := f.Turn(attacker, "stranger", most)
		if !ok {
			t.Fatal("a good login is refused")
		}
		longest = max(longest, wait)
	}
	if longest > turnMost || longest == 0 {
		t.Errorf("a good login waits %v", longest)
	}
}

// Lines of the log are bounded, those of one address and all of them, and it is said how many were left out.
func TestLinesOfFailuresAreBounded(t *testing.T) {
	f, now := clocked()
	written, omitted := 0, 0
	for k := range 10_000 {
		addr := attacker
		if k%2 == 0 {
			addr = netip.AddrFrom4([4]byte{10, 1, byte(k >> 8), byte(k)})
		}
		f.Failed(addr, "root", most)
		if n, ok := f.Log(addr); ok {
			written++
			omitted += n
		}
		if k == 20 && written > 11+linesOfAddress {
			t.Errorf("%d lines, of one address more than %d", written, linesOfAddress)
		}
		*now = now.Add(10 * time.Millisecond)
	}
	if written > 11*linesOfAll || written < 9*linesOfAll {
		t.Errorf("%d lines in 100 s", written)
	}
	if left := 10_000 - written - omitted; left < 0 || left > 1100 {
		t.Errorf("%d lines, %d said to be left out", written, omitted)
	}
}

// A good login forgets the failures of its user, but nobody's who tries another user's passwords in between.
func TestGoodLoginForgets(t *testing.T) {
	f, _ := clocked()
	for range 5 {
		f.Failed(attacker, "app", most)
	}
	f.Good(elsewhere, "app")
	f.Good(attacker, "other")
	f.Good(netip.Addr{}, "app")
	if d := f.Failed(attacker, "app", most); d == 0 {
		t.Error("forgotten by somebody else's login")
	}
	f.Good(attacker, "app")
	if d := f.Failed(attacker, "app", most); d != 0 {
		t.Errorf("after a good login: %v", d)
	}
	for range 5 {
		f.Failed(attacker, "root", most)
		f.Failed(attacker, "app", most)
		f.Good(attacker, "app")
	}
	if d := f.Failed(attacker, "root", most); d == 0 {
		t.Error("good logins of an own user wash off the failures of another one")
	}
	new(Failures).Good(attacker, "app")
}

// Neither addresses nor waiting answers grow without bound; hosts of one IPv6 network are one.
func TestFailuresAreBounded(t *testing.T) {
	f, now := clocked()
	for range 5 {
		f.Failed(attacker, "root", most)
	}
	for k := range 4 * sourcesMax {
		*now = now.Add(time.Millisecond)
		a := [16]byte{0x20, 1, 0xd, 0xb8, byte(k >> 16), byte(k >> 8), byte(k), 0, 15: byte(k)}
		f.Failed(netip.AddrFrom16(a), "root", most)
	}
	if got := f.Counts().Sources; got > sourcesMax || got < sourcesMax-1 {
		t.Errorf("%d addresses", got)
	}
	f, _ = clocked()
	for k := range 6 {
		f.Failed(netip.AddrFrom16([16]byte{0x20, 1, 15: byte(k)}), "root", most)
		f.Failed(netip.MustParseAddr("::ffff:192.0.2.1"), "root", most)
		f.Failed(netip.MustParseAddr("192.0.2.1"), "root", most)
	}
	if got := f.Counts().Sources; got != 2 {
		t.Errorf("%d addresses of two", got)
	}
	for range heldMost {
		if !f.Hold() {
			t.Fatal("not held")
		}
	}
	if f.Hold() {
		t.Error("one more than the bound is held")
	}
	f.Release()
	if !f.Hold() || f.Counts().Held != heldMost {
		t.Error("a place is not given back")
	}
}
