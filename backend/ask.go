package backend

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend/pool"
	"kingshard/mysql"
)

// ErrLate says that none of the instances that were asked has answered in its moment.
var ErrLate = errors.New("no answer in a moment")

// moment is how long an instance that is near is given to answer before another one is asked, too, and momentMax one that is far.
const (
	moment    = 50 * time.Millisecond
	momentMax = 250 * time.Millisecond
)

// Moment is how long an answer to a short question may take until the instance is late: what is far away has longer.
func (i *Instance) Moment() time.Duration {
	return min(moment+2*time.Duration(i.memory.roundTrip.Load()), momentMax)
}

// SetRoundTrip notes how long a probe took. One that took long tells little of the distance. Only the instance's one watcher calls it.
func (i *Instance) SetRoundTrip(d time.Duration) {
	if known := time.Duration(i.memory.roundTrip.Load()); known > 0 && d > known {
		d = known + min(d-known, known)/8
	}
	i.memory.roundTrip.Store(int64(d))
}

// Question is a command without effects on data that any of several instances can answer.
type Question struct {
	// Instances lists those that can answer as the first can, whether they do now or not.
	Instances func() []*Instance
	// Waits has the question wait where none of them answers as their nodes have no primaries, until one of the nodes has.
	Waits   bool
	Setting *Setting // that the connection carries
	// Command and Argument are sent as they are.
	Command  mysql.Command
	Argument string
	// Leaves says that the command changes what the connection carries, in a way that is not known before its answer.
	Leaves bool
	// Same tells the errors that all instances answer with, if one does; nil: none.
	Same func(code uint16) bool
	// Brief has the question end with ErrLate after the moment of the last instance.
	Brief bool
}

// Asker asks questions. Zero is ready to use, any goroutine may use it, and Close ends it.
type Asker struct {
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
	busy    map[*Conn]*asked // connections whose answers are waited for
}

// asked is a question that is under way.
type asked struct {
	Question
	asker    *Asker
	deadline time.Time
	answers  chan reply
	settled  chan struct{} // closed when nobody waits for more answers
	mu       sync.Mutex
	over     bool // settled is closed
}

// reply is what became of one of the instances: a connection on which an answer has begun to come, or an error.
type reply struct {
	p     Pooled
	err   error
	first bool // of the first instance
}

// Answering returns the first of the instances, and those of the others that answer, as far as is known. For one that a reload has retired it has the
// one that serves instead.
func Answering(instances []*Instance) (list []*Instance) {
	for k, i := range instances {
		for next := i.successor.Load(); next != nil; next = i.successor.Load() {
			i = next
		}
		if k == 0 || i.State() == Up && !i.Late() {
			list = append(list, i)
		}
	}
	return list
}

// Ask asks the first of the instances, and each further one that answers once those before it are late or have failed; the first comes last while it
// is known to be late. It gives the connection on which the answer has begun to come, whose reader the caller is now, as of a command just
// sent. An error that a server answers with counts if it is the first instance's, or one of Same: others need not have what the question
// names. The answers that come later are read and dropped. For the time of a wait for a primary the deadline is put off.
func (a *Asker) Ask(q Question, deadline time.Time, cancel <-chan struct{}) (Pooled, error) {
	var w held
	for {
		all := q.Instances()
		instances := Answering(all)
		p, err := a.askAll(q, instances, deadline.Add(w.waited()), cancel)
		if err == nil || !q.Waits || !lacksPrimary(instances[0], err) {
			w.over(err)
			return p, err
		}
		if w.since.IsZero() {
			w.until = instances[0].Hold.until(deadline)
		}
		w.holds = nil
		for _, i := range all {
			if !slices.Contains(w.holds, i.Hold) {
				w.holds = append(w.holds, i.Hold)
			}
		}
		if err := w.wait(err, cancel); err != nil {
			return Pooled{}, err
		}
	}
}

// askAll is Ask without a wait for a primary. Where no instance answers the error is the first one's.
func (a *Asker) askAll(q Question, instances []*Instance, deadline time.Time, cancel <-chan struct{}) (Pooled, error) {
	w := &asked{Question: q, asker: a, deadline: deadline, answers: make(chan reply, len(instances)), settled: make(chan struct{})}
	defer w.settle()
	var failed error // the first instance's, once it has failed
	patience := time.NewTimer(time.Hour)
	defer patience.Stop()
	first := instances[0]
	if first.Late() && len(instances) > 1 {
		instances = append(slices.Clone(instances[1:]), first)
	}
	started, ended := 0, 0
	var sent *atomic.Int64
	next := func() {
		if started < len(instances) {
			i := instances[started]
			patience.Reset(i.Moment())
			sent = new(atomic.Int64)
			a.start(w, i, i == first, sent)
			started++
		}
	}
	for next(); ; {
		select {
		case r := <-w.answers:
			var told *mysql.SQLError
			switch {
			case r.err == nil:
				return r.p, nil
			case r.first && errors.As(r.err, &told):
				return Pooled{}, r.err
			case r.first:
				failed = r.err
			}
			if ended++; ended == len(instances) {
				return Pooled{}, failed
			}
			if ended == started {
				next()
			}
		case <-patience.C:
			instances[started-1].noteLate(sent.Load())
			if q.Brief && started == len(instances) {
				return Pooled{}, ErrLate
			}
			next()
		case <-cancel:
			return Pooled{}, pool.ErrCancelled
		}
	}
}

// noteLate notes that the instance has not answered a question in its moment, which was sent at a time in nanoseconds since 1970; 0: not yet.
// What waits for a connection, or did until just now, tells nothing of the server.
func (i *Instance) noteLate(sent int64) {
	if sent == 0 && i.Waiters() == 0 || sent != 0 && time.Since(time.Unix(0, sent)) >= i.Moment()/2 {
		i.memory.late.Store(true)
	}
}

// Close ends what is under way, and waits for it.
func (a *Asker) Close() {
	a.mu.Lock()
	a.closed = true
	for c := range a.busy {
		c.Net.SetDeadline(time.Unix(1, 0))
	}
	a.mu.Unlock()
	a.running.Wait()
}

func (a *Asker) start(w *asked, i *Instance, first bool, sent *atomic.Int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		w.answers <- reply{err: pool.ErrClosed, first: first}
		return
	}
	a.running.Go(func() { w.ask(i, first, sent) })
}

// begin has Close end the wait for an answer on c, and hurry where c is not dropped; false if the one was called before, or the other.
func (a *Asker) begin(w *asked, c *Conn, dropped bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || !dropped && w.isOver() {
		return false
	}
	if a.busy == nil {
		a.busy = make(map[*Conn]*asked)
	}
	a.busy[c] = w
	return true
}

// hurry ends the waits for answers to w in droppedTime.
func (a *Asker) hurry(w *asked) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c, other := range a.busy {
		if other == w {
			c.Net.SetDeadline(time.Now().Add(droppedTime))
		}
	}
}

func (a *Asker) end(c *Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, c)
}

// settle notes that nobody waits for answers any more, and drops those that came meanwhile.
func (w *asked) settle() {
	w.mu.Lock()
	w.over = true
	close(w.settled)
	w.mu.Unlock()
	w.asker.hurry(w)
	for {
		select {
		case r := <-w.answers:
			if r.err == nil {
				w.asker.startDrop(w, r.p)
			}
		default:
			return
		}
	}
}

func (w *asked) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// say gives a reply to who waits for one; false if nobody does.
func (w *asked) say(r reply) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	w.answers <- r
	return true
}

// ask asks one instance, and notes when the question was sent.
func (w *asked) ask(i *Instance, first bool, sent *atomic.Int64) {
	p, err := i.lend(w.Setting, w.deadline, w.settled, false) // others answer where there is no primary
	if err != nil {
		w.say(reply{err: err, first: first})
		return
	}
	if !w.asker.begin(w, p.Conn, false) {
		p.Put() // nothing was sent
		w.say(reply{err: pool.ErrClosed, first: first})
		return
	}
	var begins []byte
	sent.Store(time.Now().UnixNano())
	p.Conn.Command(w.Command, w.Argument)
	if err = p.Conn.Flush(); err == nil {
		begins, err = p.Conn.AwaitResponse()
	}
	w.asker.end(p.Conn)
	if err == nil {
		i.memory.late.Store(false)
	} else {
		p.Taint()
		w.say(reply{err: err, first: first})
		return
	}
	if !first && begins[0] == mysql.ErrHeader && (w.Same == nil || !w.Same(uint16(begins[1])|uint16(begins[2])<<8)) {
		w.say(reply{err: errRefused})
		w.drop(p)
		return
	}
	if !w.say(reply{p: p, first: first}) {
		w.drop(p)
	}
}

// errRefused says that an instance answered with an error which counts for nothing.
var errRefused = errors.New("the instance refuses what another may take")

// droppedMax is how many bytes of an answer are read that nobody wants, and droppedTime for how long.
const (
	droppedMax  = 64 << 10
	droppedTime = 10 * time.Second
)

// startDrop closes a connection on a goroutine of its own, so that the caller does not wait for the server.
func (a *Asker) startDrop(w *asked, p Pooled) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		p.Taint()
		return
	}
	a.running.Go(func() { w.drop(p) })
}

// drop reads an answer that nobody waits for and gives the connection back.
func (w *asked) drop(p Pooled) {
	p.Conn.Net.SetDeadline(time.Now().Add(droppedTime))
	if !w.asker.begin(w, p.Conn, true) {
		p.Taint()
		return
	}
	done, err := p.Conn.SkipResponse(droppedMax)
	w.asker.end(p.Conn)
	var told *mysql.SQLError
	if !done || err != nil && !errors.As(err, &told) {
		p.Taint()
		return
	}
	p.Conn.Net.SetDeadline(time.Time{})
	if w.Leaves {
		p.Conn.Marked = true // so that it is reset
	}
	p.Put()
}
