package driver

import (
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/proxy/txn/decisions"
	"kingshard/proxy/txn/twophase"
)

// Commit commits on all nodes or on none, and returns what the client is to hear as soon as that is known. Of the connections those that Usable
// reports are the caller's again; the driver closes the others.
func (t *Transaction) Commit() twophase.Outcome {
	began := time.Now()
	t.checkPrimaries()
	t.open.Deadline = t.driver.clocks.in(t.parts[0].server, t.driver.timing.Deadline)
	e := &ending{
		t: t, began: began, since: began, c: twophase.NewCoordinator(t.open, t.driver.timing, t.secret, t.Strict),
		answers: make(chan twophase.Answer, len(t.parts)+1), over: make(chan struct{}),
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
	if outcome.Cause.Reason == twophase.Late {
		t.driver.clocks.forget(t.parts[0].server)
	}
	if outcome.Background > 0 || outcome.End == twophase.Unknown {
		t.driver.Wake()
	}
	if e.c.Over() && e.awaited == 0 {
		e.rest()
	} else {
		t.driver.running.Go(e.rest) // the client does not wait for what is left
	}
	return outcome
}

// checkPrimaries dooms a transaction over several nodes of which one has another primary by now, or is not in the configuration any more: who ends what
// a process leaves behind looks at the primaries that are, and would decide anew there.
func (t *Transaction) checkPrimaries() {
	if !t.open.Spans() {
		return
	}
	nodes := t.driver.nodes()
	for _, one := range t.parts {
		if n := nodes[one.conn.Instance.Node]; n == nil || n.Primary.Addr != one.conn.Instance.Addr {
			t.open.Doom(twophase.Cause{Reason: twophase.Moved, Node: one.id})
		}
	}
}

// ending is a transaction that ends. Its methods are for one goroutine at a time: that of Commit, and then that of rest.
type ending struct {
	t       *Transaction
	c       *twophase.Coordinator
	answers chan twophase.Answer
	over    chan struct{} // closed when nobody waits any more
	timers  []timer       // those that have not gone off, the earliest first
	working sync.WaitGroup
	began   time.Time
	phase   atomic.Uint32 // twophase.Phase
	since   time.Time     // when that began
	awaited int           // how many answers are still to come
	next    *exchange     // the one whose answer is, where it is the only one: it is read where it is waited for
	limit   time.Time     // until when connections answer; the zero time is without one
}

// timer is when the coordinator is to be told that a time is over, and which.
type timer struct {
	at   time.Time
	kind twophase.Timer
}

// step waits for an answer or a timer, and does what follows from it. A timer that is due is told ahead of an answer.
func (e *ending) step() {
	answer, ok := e.wait()
	var follows []twophase.Action
	for len(e.timers) > 0 && !time.Now().Before(e.timers[0].at) {
		kind := e.timers[0].kind
		e.timers = e.timers[1:]
		follows = append(follows, e.c.Expired(kind)...)
	}
	if ok {
		e.awaited--
		follows = append(follows, e.c.Answered(answer)...)
	}
	e.carryOut(follows)
}

// wait waits for an answer, or until a timer is due: then ok is false.
func (e *ending) wait() (answer twophase.Answer, ok bool) {
	if e.next != nil {
		return e.read()
	}
	var due <-chan time.Time
	if len(e.timers) > 0 {
		t := time.NewTimer(time.Until(e.timers[0].at))
		defer t.Stop()
		due = t.C
	}
	select {
	case answer = <-e.answers:
		return answer, true
	case <-due:
		return answer, false
	}
}

// read waits for the only answer that is to come.
func (e *ending) read() (answer twophase.Answer, ok bool) {
	x := e.next
	bound := e.limit
	if len(e.timers) > 0 && (bound.IsZero() || e.timers[0].at.Before(bound)) {
		bound = e.timers[0].at
	}
	if !x.part.closed {
		_ = x.part.conn.Conn.Net.SetReadDeadline(bound)
		err := x.readAwaiting()
		_ = x.part.conn.Conn.Net.SetReadDeadline(e.limit)
		if errors.Is(err, os.ErrDeadlineExceeded) && bound != e.limit {
			return answer, false // it is waited for again, unless the coordinator gives it up
		}
	}
	e.next = nil
	return x.answer(), true
}

// rest goes on until nothing is left to do, and closes the connections that the caller did not get back.
func (e *ending) rest() {
	e.limit = time.Now().Add(e.t.driver.timing.Decide)
	for _, one := range e.t.parts {
		if !one.released && !one.closed {
			// A server that never answers is not waited for: resolvers end what is prepared there.
			_ = one.conn.Conn.Net.SetDeadline(e.limit)
		}
	}
	for !e.c.Over() {
		e.step()
	}
	e.t.driver.ongoing.remove(e)
	close(e.over)
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
	var sent []*exchange
	for _, a := range list {
		switch one := e.t.part(a.Node); {
		case a.Do == twophase.DoTimer:
			e.set(timer{time.Now().Add(a.After), a.Timer})
		case a.Do == twophase.DoReport:
			e.t.driver.report(a.Incident)
		case a.Do == twophase.DoRelease:
			one.released = true
		case a.Do == twophase.DoClose:
			one.closed = true
			_ = one.conn.Conn.Net.SetDeadline(time.Now()) // whoever reads from it hears of it
		case a.Do >= twophase.DoFence:
			e.beside(func() twophase.Answer { return e.t.driver.asAdmin(a) })
		case a.Do == twophase.DoClock || a.Stepwise:
			e.beside(func() twophase.Answer { return e.t.driver.asked(one, a) })
		default:
			sent = append(sent, newExchange(one, a))
		}
	}
	e.send(sent)
}

// set sets a timer.
func (e *ending) set(t timer) {
	at, _ := slices.BinarySearchFunc(e.timers, t, func(x, t timer) int { return x.at.Compare(t.at) })
	e.timers = slices.Insert(e.timers, at, t)
}

// send sends statements, which are few and short beside what a connection takes that owes nothing, and sees to it that their answers are read.
func (e *ending) send(list []*exchange) {
	if e.next != nil && len(list)+e.awaited > 1 {
		x := e.next
		e.next = nil
		e.awaited--
		e.beside(x.read)
	}
	if len(list) == 1 && e.awaited == 0 {
		e.awaited++
		e.next = list[0]
		e.next.send()
		return
	}
	for _, x := range list {
		x.send()
		e.beside(x.read)
	}
}

// beside has an answer got by a goroutine of its own.
func (e *ending) beside(get func() twophase.Answer) {
	e.awaited++
	e.working.Go(func() {
		answer := get()
		select {
		case e.answers <- answer:
		case <-e.over:
		}
	})
}
