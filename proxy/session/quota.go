package session

import (
	"errors"
	"math"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/exec"
	"kingshard/proxy/observe"
	"kingshard/proxy/txn"
)

// quota bounds the rows of an answer to the client; what the proxy asks for itself has no bounds.
func (c *client) quota(q *query) *mysql.Quota {
	if c.sink.catches() {
		return nil
	}
	return q.quota
}

// errRest says that a server did not come to the end of an answer that nobody wants.
var errRest = &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: errors.New("the rest of a result was not read")}

// cutOff ends an answer of which the client heard that it is more than the user's limits.
func (c *client) cutOff(p backend.Pooled, q *query, res *mysql.Response) error {
	q.cut = true
	observe.Exceeded(c.account, q.quota, res.Err)
	c.observed.Forward(res.Rows, res.Bytes)
	c.heard(res.Err, observe.OriginProxy)
	if done, err := p.Conn.SkipRest(drainMax); done {
		return nil // what the server had to say at the end does not matter
	} else if err != nil {
		return err
	}
	return c.endOnServer(p, func() (bool, error) { return p.Conn.SkipRest(math.MaxInt) })
}

// endOnServer has the server end a statement whose answer is too long to be read, and reads what comes before its end.
func (c *client) endOnServer(p backend.Pooled, skip func() (done bool, err error)) error {
	c.entry.KillOn(p)
	p.Conn.Net.SetDeadline(time.Now().Add(txn.CleanupTimeout))
	if done, _ := skip(); !done {
		return errRest
	}
	if takeKill(p) != nil {
		return errRest
	}
	return nil
}

// takeKill has a statement of no effect take the KILL of one that had ended before the server heard of it: servers end the next one then. It
// sets the connection's deadline for that, and takes it away.
func takeKill(p backend.Pooled) error {
	p.Conn.Net.SetDeadline(time.Now().Add(txn.CleanupTimeout))
	defer p.Conn.Net.SetDeadline(time.Time{})
	var refused *mysql.SQLError
	if err := p.Conn.Exec("DO 0"); err != nil && !errors.As(err, &refused) {
		return err
	}
	return nil
}

// skipRest reads what is left of a shard's answer. Where much is, a connection that carries a transaction is worth having the
// server end the statement; others are closed by the caller when it is not done.
func (c *client) skipRest(l txn.Lease, src *exec.Source) (done bool) {
	if done, err := src.Drain(drainMax); done || err != nil || !l.Kept {
		return done
	}
	return c.endOnServer(l.Pooled, func() (bool, error) { return src.Drain(math.MaxInt) }) == nil
}
