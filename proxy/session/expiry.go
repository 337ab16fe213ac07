package session

import (
	"errors"
	"time"

	"kingshard/mysql"
)

// expiry is the limit of one statement's time.
type expiry struct {
	timer *time.Timer
	over  bool // under the session's mu
}

// expireAfter ends the statement that begins now when d is over. It is paired with expired, which waits for what that is about.
func (s *Session) expireAfter(d time.Duration) *expiry {
	e := new(expiry)
	s.mu.Lock()
	s.expiry = e
	s.mu.Unlock()
	e.timer = time.AfterFunc(d, func() { s.expire(e) })
	return e
}

// expire ends the statement as a KILL QUERY does, if it still runs.
func (s *Session) expire(e *expiry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expiry != e || s.closing {
		return
	}
	e.over = true
	s.interruptLocked()
	s.wasKill = true
	s.killRunning()
}

// expired ends what expireAfter began: from here on the time does not matter. An interruption is told as what it was.
func (s *Session) expired(e *expiry, err error) error {
	e.timer.Stop()
	s.mu.Lock()
	s.expiry = nil
	over := e.over
	s.mu.Unlock()
	var sqlErr *mysql.SQLError
	if over && errors.As(err, &sqlErr) && sqlErr.Code == mysql.ERQueryInterrupted {
		return errExpired()
	}
	return err
}

// patchExpired puts the time-out in place of the server's word for it.
func (s *Session) patchExpired(e *mysql.SQLError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Code == mysql.ERQueryInterrupted && s.expiry != nil && s.expiry.over {
		*e = *errExpired()
	}
}

func errExpired() *mysql.SQLError {
	return mysql.NewSQLError(mysql.ERQueryTimeout, "Query execution was interrupted, maximum statement execution time exceeded")
}
