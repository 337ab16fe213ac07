package console

import (
	"testing"
	"testing/synctest"
	"time"

	"kingshard/proxy/admin/login"
)

// Sessions end by themselves, and there are never more than so many.
func TestSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sessions
		here := func(id string) bool { _, _, ok := s.find(id); return ok }
		id, csrf := s.begin(login.Login{Name: "a"})
		if who, token, ok := s.find(id); !ok || who.Name != "a" || token != csrf || len(id) < 26 || id == csrf {
			t.Fatalf("%v %q %v", who, token, ok)
		}
		time.Sleep(idleMax - time.Second)
		if !here(id) {
			t.Error("ended before it was idle for long")
		}
		time.Sleep(idleMax)
		if here(id) {
			t.Error("goes on though idle")
		}
		id, _ = s.begin(login.Login{})
		for range lifetime / (20 * time.Minute) {
			time.Sleep(20 * time.Minute)
			here(id)
		}
		if here(id) {
			t.Error("goes on beyond its lifetime")
		}
		first, _ := s.begin(login.Login{})
		time.Sleep(time.Second)
		second, _ := s.begin(login.Login{})
		time.Sleep(time.Second)
		here(first)
		for range sessionsMax - 1 {
			time.Sleep(time.Second)
			s.begin(login.Login{})
		}
		if len(s.byID) != sessionsMax || !here(first) || here(second) {
			t.Errorf("%d sessions; the one used last is there: %v, the other: %v", len(s.byID), here(first), here(second))
		}
		s.end(first)
		if here(first) {
			t.Error("goes on after its end")
		}
	})
}
