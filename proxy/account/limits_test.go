package account

import (
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"kingshard/config"
	"kingshard/proxy/throttle"
)

func limited(t *testing.T, u config.User, before *Store) (*Store, *Account) {
	t.Helper()
	s, err := New(&config.Config{UserList: []config.User{u}}, before)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.byUser[u.User]
}

// A user's statements have their rate, and wait for their place as long as max_wait says.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a := limited(t, config.User{User: "app", Password: "x", MaxQPS: 2, MaxWait: config.Duration(time.Second)}, nil)
		began := time.Now()
		for range 4 {
			if _, err := a.Begin(nil); err != nil {
				t.Error(err)
			}
			a.End()
		}
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("two statements more than those of a second waited for %v", waited)
		}
		_, b := limited(t, config.User{User: "app", Password: "x", MaxQPS: 1}, nil)
		for _, want := range []Limit{0, LimitQPS} {
			if l, err := b.Begin(nil); l != want || (err == nil) != (want == 0) {
				t.Errorf("refused by %v: %v", l, err)
			}
		}
	})
}

// Who waits for a place among those that run gets the one that comes free.
func TestWaitForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a := limited(t, config.User{User: "app", Password: "x", MaxConcurrent: 1, MaxWait: config.Duration(time.Second)}, nil)
		if _, err := a.Begin(nil); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second/2, a.End)
		began := time.Now()
		if _, err := a.Begin(nil); err != nil || time.Since(began) != time.Second/2 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if l, err := a.Begin(nil); !errors.Is(err, throttle.ErrConcurrent) || l != LimitConcurrent || time.Since(began) != 3*time.Second/2 {
			t.Errorf("%v, %v after %v", l, err, time.Since(began))
		}
		cancel := make(chan struct{})
		close(cancel)
		if _, err := a.Begin(cancel); !errors.Is(err, throttle.ErrCancelled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

// Statements under way and refusals are counted over reloads, whatever becomes of the limits.
func TestConcurrency(t *testing.T) {
	s, a := limited(t, config.User{User: "app", Password: "x", MaxConcurrent: 2, MaxConns: 1}, nil)
	for range 2 {
		if _, err := a.Begin(nil); err != nil {
			t.Fatal("refused")
		}
	}
	if l, err := a.Begin(nil); err == nil || l != LimitConcurrent {
		t.Errorf("a third one: %v, %v", l, err)
	}
	s, b := limited(t, config.User{User: "app", Password: "x", MaxConcurrent: 3}, s)
	if _, err := b.Begin(nil); err != nil {
		t.Error("the third one of three is refused")
	}
	if _, err := b.Begin(nil); err == nil {
		t.Error("a fourth one")
	}
	a.End()
	if _, err := b.Begin(nil); err != nil {
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
