package load

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"kingshard/mysql"
)

// openLoop is a part of an open loop's clients, on a thread of its own: it sends what is due, takes the answers that have
// come, and sleeps until either. So a statement takes little more than its two system calls of the machine that client,
// proxy and server share, and what is measured is not how long threads of the generator wait for each other.
type openLoop struct {
	run     *openRun
	poll    *poller
	stripe  *stripe
	clients []*openClient
	free    chan *openClient // those that have nothing to do, a queue of this thread's only
	back    chan *openClient // those that have a connection again, from others
	away    int              // those without a connection
	busy    int              // statements under way
	next    int              // number of the next statement to be sent; those of the loops take turns
}

// openClient is a client of an open loop.
type openClient struct {
	*Client
	number int
	busy   bool
	walk   mysql.Walk // through the answer
	due    time.Time  // when the statement under way was
}

const (
	backInterval = 5 * time.Millisecond   // between two looks at clients that have a connection again
	stopInterval = 100 * time.Millisecond // between two looks at whether to stop
)

var (
	errNotSent     = fmt.Errorf("not sent %v after the end: the rate is too high", grace)
	errNotAnswered = fmt.Errorf("not answered %v after the end", grace)
	errStray       = errors.New("something that is no answer came from the server")
	errKind        = errors.New("an answer of a kind that an open loop does not take")
	errBare        = errors.New("an open loop has neither TLS nor compression")
)

// add takes a client that is logged in, or is so again.
func (l *openLoop) add(c *openClient) error {
	nc := c.conn.Net.Bare()
	if nc == nil {
		return errBare
	}
	s, err := detach(nc)
	if err != nil {
		return err
	}
	c.conn.Net.Rebase(s)
	if err := l.poll.watch(s, c.number/l.run.loops); err != nil {
		return err
	}
	l.free <- c
	return nil
}

// serve sends what is due, to the end of that and of the answers to it.
func (l *openLoop) serve() error {
	defer l.countLost()
	last := l.run.end.Add(grace)
	for !l.run.stopping.Load() {
		now := time.Now()
		l.takeBack()
		l.sendDue(now)
		due := l.run.due(l.next)
		over := !due.Before(l.run.end)
		if over && l.busy == 0 || now.After(last) {
			return nil
		}
		pause := stopInterval
		if l.away > 0 {
			pause = backInterval
		}
		if !over && len(l.free) > 0 {
			pause = min(pause, due.Sub(now))
		}
		ready, err := l.poll.wait(pause)
		if err != nil {
			return err
		}
		for i := range ready {
			l.receive(l.clients[l.poll.at(i)])
		}
	}
	return nil
}

// sendDue sends what is due by now, as long as clients are free.
func (l *openLoop) sendDue(now time.Time) {
	for len(l.free) > 0 {
		due := l.run.due(l.next)
		if due.After(now) || !due.Before(l.run.end) {
			return
		}
		l.next += l.run.loops
		c := <-l.free
		c.busy, c.due, c.walk = true, due, mysql.Walk{}
		l.busy++
		c.conn.ResetSequence()
		c.conn.WritePacket(c.command())
		if err := c.conn.Flush(); err != nil {
			l.broken(c, err)
			continue
		}
		c.conn.Release()
	}
}

// receive reads what has come for a client.
func (l *openLoop) receive(c *openClient) {
	if c.Client == nil {
		return // its connection broke in this round
	}
	err := c.conn.ReadNow()
	switch {
	case err == syscall.EAGAIN:
		return
	case err == nil && !c.busy:
		err = errStray
	}
	if err != nil {
		l.broken(c, err)
		return
	}
	switch c.walk.Arrived(c.conn.Unread(), c.conn.Capabilities) {
	case mysql.ArrivedPart:
		return
	case mysql.ArrivedPlain:
		c.conn.Skip(c.walk.Len())
	case mysql.ArrivedAside: // an error, or an answer with warnings
		r := reader{conn: c.conn}
		_, err = r.response()
	default:
		l.broken(c, errKind)
		return
	}
	c.conn.Release()
	c.busy = false
	l.busy--
	l.free <- c
	switch {
	case err != nil:
		l.run.faults.add(err)
	case !c.due.Before(l.run.start):
		l.stripe.record(time.Since(c.due))
	}
}

// broken counts an error after which a connection cannot go on, and has another made.
func (l *openLoop) broken(c *openClient, err error) {
	l.run.faults.add(err)
	if c.busy {
		c.busy = false
		l.busy--
	} else {
		l.leave(c)
	}
	c.Client.Close()
	c.Client = nil
	l.away++
	l.run.redials.Go(func() {
		if l.run.again(c.number) {
			l.back <- c
		}
	})
}

// leave takes a client out of the queue of free ones.
func (l *openLoop) leave(gone *openClient) {
	for range len(l.free) {
		if c := <-l.free; c != gone {
			l.free <- c
		}
	}
}

// takeBack takes the clients that have a connection again.
func (l *openLoop) takeBack() {
	for l.away > 0 {
		select {
		case c := <-l.back:
			l.away--
			c.Client = l.run.clients[c.number]
			if err := l.add(c); err != nil {
				l.broken(c, err)
			}
		default:
			return
		}
	}
}

// countLost counts what was due and never sent, or not answered by the end.
func (l *openLoop) countLost() {
	now := time.Now()
	for ; ; l.next += l.run.loops {
		due := l.run.due(l.next)
		if due.After(now) || !due.Before(l.run.end) {
			break
		}
		l.lost(due, errNotSent)
	}
	for _, c := range l.clients {
		if c.busy {
			l.lost(c.due, errNotAnswered)
		}
	}
}

func (l *openLoop) lost(due time.Time, err error) {
	if !due.Before(l.run.start) {
		l.stripe.record(time.Since(due))
		l.run.lost.Add(1)
		l.run.faults.add(err)
	}
}
