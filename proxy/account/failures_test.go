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
		if f.Blocked(attacker, most) {
			t.Fatalf("blocked after %v", delays)
		}
		d := f.Failed(attacker, "root", most)
		delays = append(delays, d/time.Millisecond)
		*now = now.Add(d)
	}
	if want := []time.Duration{0, 0, 100, 200, 400, 800, 1600, 3000, 3000, 3000}; !slices.Equal(delays, want) {
		t.Errorf("delays %d ms, want %d", delays, want)
	}
	if d := f.Failed(elsewhere, "root", most); d != 0 || f.Blocked(elsewhere, most) {
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

// However many connections somebody has, the number of passwords tried from an address in the long run is bounded, and others are let in.
func TestManyAbreast(t *testing.T) {
	f, now := clocked()
	tried := 0
	for range 3600 {
		for range 50 {
			if !f.Blocked(attacker, most) {
				tried++
				f.Failed(attacker, "root", most)
			}
		}
		if f.Blocked(elsewhere, most) {
			t.Fatal("others are refused")
		}
		*now = now.Add(time.Second)
	}
	if bound := 3600*failuresAbreast/3 + 200; tried > bound || tried < 3600 {
		t.Errorf("%d passwords tried in an hour, the bound is %d", tried, bound)
	}
	if got := f.Counts(); got.Refused == 0 {
		t.Errorf("counts %+v", got)
	}
	// A burst that came before its first failure was known is paid for, within bounds.
	for range 100_000 {
		f.Failed(attacker, "root", most)
	}
	*now = now.Add(blockedMost - most - time.Second)
	if !f.Blocked(attacker, most) {
		t.Error("a burst is forgotten")
	}
	*now = now.Add(2 * time.Second)
	if f.Blocked(attacker, most) {
		t.Error("blocked for longer than the bound")
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
