package account

import (
	"math"
	"testing"
	"time"

	"kingshard/config"
)

func limited(t *testing.T, u config.User, before *Store) (*Store, *Account) {
	t.Helper()
	s, err := New(&config.Config{UserList: []config.User{u}}, before)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.byUser[u.User]
}

// The statements of a second may come at once, then one for each interval; what is refused takes no place.
func TestRate(t *testing.T) {
	_, a := limited(t, config.User{User: "app", Password: "x", MaxQPS: 10}, nil)
	now := time.Now()
	count := func(tries int) (n int) {
		for range tries {
			if l, ok := a.Begin(now); ok {
				n++
				a.End()
			} else if l != LimitQPS {
				t.Fatalf("refused by %v", l)
			}
		}
		return n
	}
	for _, c := range []struct {
		later time.Duration
		want  int
	}{{0, 10}, {50 * time.Millisecond, 0}, {50 * time.Millisecond, 1}, {300 * time.Millisecond, 3}, {time.Hour, 10}} {
		now = now.Add(c.later)
		if got := count(30); got != c.want {
			t.Errorf("after %v: %d statements, want %d", c.later, got, c.want)
		}
	}
}

// Statements under way and refusals are counted over reloads, whatever becomes of the limits.
func TestConcurrency(t *testing.T) {
	s, a := limited(t, config.User{User: "app", Password: "x", MaxConcurrent: 2, MaxConns: 1}, nil)
	for range 2 {
		if _, ok := a.Begin(time.Now()); !ok {
			t.Fatal("refused")
		}
	}
	if l, ok := a.Begin(time.Now()); ok || l != LimitConcurrent {
		t.Errorf("a third one: %v, %v", l, ok)
	}
	s, b := limited(t, config.User{User: "app", Password: "x", MaxConcurrent: 3}, s)
	if _, ok := b.Begin(time.Now()); !ok {
		t.Error("the third one of three is refused")
	}
	if _, ok := b.Begin(time.Now()); ok {
		t.Error("a fourth one")
	}
	a.End()
	if _, ok := b.Begin(time.Now()); !ok {
		t.Error("one that began before the reload does not end")
	}
	if !a.Enter() || a.Enter() {
		t.Error("max_conns")
	}
	a.Exceeded(LimitRows)
	got := map[string]uint64{}
	s.Refusals(func(user string, l Limit, n uint64) { got[user+" "+l.String()] = n })
	if len(got) != 3 || got["app max_rows"] != 1 || got["app max_concurrent"] != 2 || got["app max_conns"] != 1 {
		t.Errorf("%v", got)
	}
	for u, want := range map[*config.User][2]uint64{
		{User: "app", Password: "x", MaxRows: 7}: {7, math.MaxUint64}, {User: "app", Password: "x", MaxBytes: 9}: {math.MaxUint64, 9},
		{User: "app", Password: "x", MaxQPS: 1}: {math.MaxUint64, math.MaxUint64},
	} {
		_, c := limited(t, *u, nil)
		if rows, bytes, bounded := c.MaxAnswer(); rows != want[0] || bytes != want[1] || bounded != (u.MaxQPS == 0) || !c.Limited() {
			t.Errorf("%+v: %d rows, %d bytes, %v", u, rows, bytes, bounded)
		}
	}
	if _, c := limited(t, config.User{User: "app", Password: "x"}, s); c.Limited() || c.MaxTime() != 0 {
		t.Error("limits out of nothing")
	}
}
