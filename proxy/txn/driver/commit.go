package driver

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/txn/decisions"
	"kingshard/proxy/txn/twophase"
)

// Commit commits on all nodes or on none, and returns what the client is to hear as soon as that is known. Of the connections those that Usable
// reports are the caller's again; the driver closes the others.
func (t *Transaction) Commit() twophase.Outcome {
	began := time.Now()
	e := &ending{
		t: t, began: began, since: began, c: twophase.NewCoordinator(t.open, t.driver.timing, t.secret, t.Strict),
		answers: make(chan twophase.Answer, len(t.parts)+1), expired: make(chan twophase.Timer), over: make(chan struct{}),
	}
	t.driver.ongoing.add(e)
	e.carryOut(e.c.Commit())
	outcome, told := e.c.Outcome()
	for !told {
		e.step()
		outcome, told = e.c.Outcome()
	}
	for _, one := range t.parts {
		one.returned = one.released
	}
	t.driver.counts.ended(outcome, time.Since(began))
	if cause := outcome.Cause; cause.Reason == twophase.Refused && decisions.Lacking(cause.Code) {
		if n := t.driver.node(cause.Node); n != nil {
			t.driver.store.Forget(n)
		}
	}
	if outcome.Background > 0 || outcome.End == twophase.Unknown {
		t.driver.Wake()
	}
	// What is left the client does not wait for.
	t.driver.running.Go(e.rest)
	return outcome
}

// ending is a transaction that ends.
type ending struct {
	t       *Transaction
	c       *twophase.Coordinator
	answers chan twophase.Answer
	expired chan twophase.Timer
	over    chan struct{} // closed when nobody waits any more
	timers  []*time.Timer
	working sync.WaitGroup
	began   time.Time
	phase   atomic.Uint32 // twophase.Phase
	since   time.Time     // when that began
}

// step waits for an answer or a timer, and does what follows from it.
func (e *ending) step() {
	select {
	case a := <-e.answers:
		e.carryOut(e.c.Answered(a))
	case timer := <-e.expired:
		e.carryOut(e.c.Expired(timer))
	}
}

// rest goes on until nothing is left to do, and closes the connections that the caller did not get back.
func (e *ending) rest() {
	for _, one := range e.t.parts {
		if !one.released && !one.closed {
			// A server that never answers is not waited for: resolvers end what is prepared there.
			one.conn.Conn.Net.SetDeadline(time.Now().Add(e.t.driver.timing.Decide))
		}
	}
	for !e.c.Over() {
		e.step()
	}
	e.t.driver.ongoing.remove(e)
	close(e.over)
	for _, timer := range e.timers {
		timer.Stop()
	}
	e.working.Wait()
	for _, one := range e.t.parts {
		if !one.returned {
			one.conn.Taint()
		}
	}
}

// carryOut begins what a coordinator asks for.
func (e *ending) carryOut(list []twophase.Action) {
	e.enter(e.c.Phase())
	for _, a := range list {
		switch one := e.t.part(a.Node); {
		case a.Do == twophase.DoTimer:
			e.timers = append(e.timers, time.AfterFunc(a.After, func() {
				select {
				case e.expired <- a.Timer:
				case <-e.over:
				}
			}))
		case a.Do == twophase.DoReport:
			e.t.driver.report(a.Incident)
		case a.Do == twophase.DoRelease:
			one.released = true
		case a.Do == twophase.DoClose:
			one.closed = true
			one.conn.Conn.Net.SetDeadline(time.Now()) // whoever reads from it hears of it
		case a.Do >= twophase.DoFence:
			e.working.Go(func() { e.answered(e.t.driver.asAdmin(a)) })
		default:
			e.working.Go(func() { e.answered(onConnection(one.conn.Conn, a)) })
		}
	}
}

// answered hands an answer over to whoever waits, if anybody does.
func (e *ending) answered(a twophase.Answer) {
	select {
	case e.answers <- a:
	case <-e.over:
	}
}

// onConnection carries an action out on a connection of the transaction: its statements are sent at once.
func onConnection(c *backend.Conn, a twophase.Action) twophase.Answer {
	answer := twophase.Answer{Do: a.Do, Node: a.Node, Key: a.Row.Key}
	var err error
	if statements := a.Statements(); a.Do == twophase.DoClock {
		err = c.Rows(statements[0], 1, func(row []string) { answer.Text = row[0] })
	} else {
		err = sent(c, &a, statements)
	}
	answer.Result, answer.Code = resultOf(err)
	return answer
}

// sent sends statements that return no rows, at once where the action allows it. It returns the first error or, of a rollback, that of the last
// statement; see twophase.Action.Statements.
func sent(c *backend.Conn, a *twophase.Action, statements []string) (first error) {
	if a.Stepwise {
		for _, sql := range statements {
			if err := c.Exec(sql); err != nil {
				return err
			}
		}
		return nil
	}
	for _, sql := range statements {
		c.Command(mysql.ComQuery, sql)
	}
	if err := c.Flush(); err != nil {
		return err
	}
	for k := range statements {
		if k > 0 {
			c.ExpectResponse()
		}
		_, err := c.ReadChange()
		var refused *mysql.SQLError
		if err != nil && !errors.As(err, &refused) {
			return err
		}
		if first == nil || a.Do == twophase.DoRollbackBranch {
			first = err
		}
	}
	return first
}

// resultOf returns what an error says of a statement.
func resultOf(err error) (twophase.Result, uint16) {
	var refused *mysql.SQLError
	switch {
	case err == nil:
		return twophase.OK, 0
	case errors.As(err, &refused):
		return twophase.Rejected, refused.Code
	}
	return twophase.NoAnswer, 0
}
