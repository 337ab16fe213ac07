package console

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"

	"kingshard/proxy/admin/login"
)

const (
	// sessionsMax is how many logins there are at a time; the one that was used the longest ago makes room.
	sessionsMax = 64
	// lifetime and idleMax end a session so long after its login, and after its last request.
	lifetime = 8 * time.Hour
	idleMax  = 30 * time.Minute
)

// visit is a session of a browser.
type visit struct {
	who  login.Login
	csrf string
	// began is when it logged in, used when its last request came.
	began, used time.Time
}

// sessions are those of all browsers, by the hash of the id in the cookie.
type sessions struct {
	mu   sync.Mutex
	byID map[[sha256.Size]byte]*visit
}

// begin makes a session and gives the id for its cookie and the token for its changes.
func (s *sessions) begin(who login.Login) (id, csrf string) {
	id, csrf = rand.Text(), rand.Text()
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = make(map[[sha256.Size]byte]*visit)
	}
	s.makeRoom(now)
	s.byID[sha256.Sum256([]byte(id))] = &visit{who: who, csrf: csrf, began: now, used: now}
	return id, csrf
}

// makeRoom forgets sessions that have ended and, if there is still no place, the one not used for longest. The caller holds mu.
func (s *sessions) makeRoom(now time.Time) {
	var oldest [sha256.Size]byte
	var used time.Time
	for id, l := range s.byID {
		if l.over(now) {
			delete(s.byID, id)
		} else if used.IsZero() || l.used.Before(used) {
			oldest, used = id, l.used
		}
	}
	if len(s.byID) >= sessionsMax {
		delete(s.byID, oldest)
	}
}

func (l *visit) over(now time.Time) bool {
	return now.Sub(l.began) >= lifetime || now.Sub(l.used) >= idleMax
}

// find gives the session of an id; false if there is none, or it has ended.
func (s *sessions) find(id string) (who login.Login, csrf string, ok bool) {
	key, now := sha256.Sum256([]byte(id)), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.byID[key]
	if l == nil {
		return who, "", false
	}
	if l.over(now) {
		delete(s.byID, key)
		return who, "", false
	}
	l.used = now
	return l.who, l.csrf, true
}

// end forgets a session.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, sha256.Sum256([]byte(id)))
}

// same compares tokens in a time that tells nothing.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
