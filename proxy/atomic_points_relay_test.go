package proxy_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/mysqltest"
)

// phase is how far a statement has come when something happens.
type phase uint8

const (
	unsent phase = iota // the proxy has sent it, and the server does not get it yet
	unread              // the server has carried it out, and the proxy does not get the answer yet
	behind              // the proxy gets the answer at the same time
)

func (p phase) String() string {
	return [...]string{"ahead of", "ahead of the answer to", "behind"}[p]
}

// point is a statement of a proxy to a server, and how far it has come.
type point struct {
	phase phase
	what  string
	node  int
	is    func(text string) bool
}

func (p *point) String() string { return p.phase.String() + " " + p.what }

// pointRelay is between proxies and the server of a node. It passes everything on, and stops at the point that is set: there the test does what it
// likes to processes.
type pointRelay struct {
	node   int
	server string // its address
	points *points
	l      net.Listener
	conns  sync.WaitGroup
	mu     sync.Mutex
	open   map[net.Conn]bool
	ended  bool
}

// points is where the relays of all nodes stop next.
type points struct {
	mu   sync.Mutex
	next *point // nil for nowhere
	// at gets what has stopped; it goes on by a value on its own channel: whether the statement is passed on, or the answer.
	at    chan chan bool
	ended chan struct{} // closed when the test has ended
	// decided says that a server was asked for a decision, and committed that it said OK to one.
	decided, committed bool
	began              time.Time
	trace              []string // what was sent since begin, and what was answered
}

// note adds to the trace what w's proxy has sent, or its server has answered.
func (ps *points) note(w *watched, what string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if len(ps.trace) < 2000 {
		ps.trace = append(ps.trace, fmt.Sprintf("%.3f n%d %s %.250s", time.Since(ps.began).Seconds(), w.relay.node+1, w.near.RemoteAddr(), what))
	}
}

// take reports whether text is the statement of the point that is set, which it unsets.
func (ps *points) take(node int, text string) *point {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.next
	if p == nil || p.node != node || !p.is(text) {
		return nil
	}
	ps.next = nil
	return p
}

// stop has the test do something, and reports whether to go on.
func (ps *points) stop() bool {
	goOn := make(chan bool, 1)
	select {
	case ps.at <- goOn:
	case <-ps.ended:
		return false
	}
	select {
	case is := <-goOn:
		return is
	case <-ps.ended:
		return false
	}
}

func startPointRelay(t *testing.T, node int, server string, ps *points) *pointRelay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &pointRelay{node: node, server: server, points: ps, l: l, open: map[net.Conn]bool{}}
	r.conns.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			r.conns.Go(func() { r.pass(near) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.mu.Lock()
		r.ended = true
		for c := range r.open {
			c.Close()
		}
		r.mu.Unlock()
		r.conns.Wait()
	})
	return r
}

// keep has c closed at the end.
func (r *pointRelay) keep(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[c] = true
	if r.ended {
		c.Close()
	}
}

func (r *pointRelay) drop(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Close()
	delete(r.open, c)
}

// pass passes on what comes on a connection.
func (r *pointRelay) pass(near net.Conn) {
	r.keep(near)
	defer r.drop(near)
	far, err := net.Dial("tcp", r.server)
	if err != nil {
		return
	}
	r.keep(far)
	defer r.drop(far)
	w := &watched{relay: r, near: near, far: far}
	w.change = sync.NewCond(&w.mu)
	var back sync.WaitGroup
	back.Go(func() {
		w.answers()
		near.Close()
		w.end()
	})
	w.commands()
	far.Close()
	w.end()
	back.Wait()
}

// watched is a connection whose commands and answers are counted.
type watched struct {
	relay     *pointRelay
	near, far net.Conn

	mu     sync.Mutex
	change *sync.Cond
	sent   int // commands that were passed on
	begun  int // answers that have begun
	decide int // the number of the command that asks for a decision
	hold   int // the number of the answer that is not passed on; 0 for none
	passed int // answers that were passed on to their first packet
	over   bool
}

func (w *watched) end() {
	w.mu.Lock()
	w.over = true
	w.change.Broadcast()
	w.mu.Unlock()
}

// await waits until is; false where the connection ends before.
func (w *watched) await(is func() bool) bool {
	for !is() && !w.over {
		w.change.Wait()
	}
	return is()
}

// commands passes on what the proxy sends, until one of both ends.
func (w *watched) commands() {
	in := bufio.NewReader(w.near)
	for {
		packet, err := mysqltest.ReadWhole(in)
		if err != nil {
			return
		}
		var p *point
		var isDecision bool
		if len(packet) > 4 && packet[3] == 0 {
			command := mysql.Command(packet[4])
			if command == mysql.ComQuery {
				text := strings.TrimPrefix(string(packet[5:]), "\x00\x01") // no attributes
				p = w.relay.points.take(w.relay.node, text)
				isDecision = isDecide(text)
				w.relay.points.note(w, text)
			}
			if p != nil && p.phase == unsent && !w.relay.points.stop() {
				return
			}
			if command != mysql.ComQuit && command != mysql.ComStmtClose && command != mysql.ComStmtSendLongData {
				w.mu.Lock()
				w.sent++
				if isDecision {
					w.decide = w.sent
					w.relay.points.asked()
				}
				if p != nil && p.phase == unread {
					w.hold = w.sent
				}
				w.mu.Unlock()
			}
		}
		if _, err := w.far.Write(packet); err != nil {
			return
		}
		if p == nil || p.phase == unsent {
			continue
		}
		w.mu.Lock()
		mine := w.sent
		there := w.await(func() bool { return w.begun >= mine && (p.phase == unread || w.passed >= mine) })
		w.mu.Unlock()
		goOn := w.relay.points.stop() && there // also where the server has ended ahead of its answer: the test tells
		if !goOn {
			return // and the answer is not passed on, either
		}
		w.mu.Lock()
		w.hold = 0
		w.change.Broadcast()
		w.mu.Unlock()
	}
}

// answers passes on what the server sends, until one of both ends.
func (w *watched) answers() {
	in := bufio.NewReader(w.far)
	for {
		packet, err := mysqltest.ReadWhole(in)
		if err != nil {
			return
		}
		w.mu.Lock()
		begins := packet[3] == 1 && w.begun < w.sent // the first packet behind a command
		if begins {
			w.begun++
			if len(packet) > 6 && packet[4] == 0xff {
				w.relay.points.note(w, fmt.Sprint("error ", int(packet[5])|int(packet[6])<<8))
			} else {
				w.relay.points.note(w, "answer")
			}
			if w.begun == w.decide && len(packet) > 4 && packet[4] == 0 {
				w.relay.points.committedNow()
			}
			w.change.Broadcast()
			w.await(func() bool { return w.hold == 0 || w.begun < w.hold })
		}
		over := w.over
		w.mu.Unlock()
		if over {
			return
		}
		if _, err := w.near.Write(packet); err != nil {
			return
		}
		if begins {
			w.mu.Lock()
			w.passed++
			w.change.Broadcast()
			w.mu.Unlock()
		}
	}
}

func (ps *points) asked() {
	ps.mu.Lock()
	ps.decided = true
	ps.mu.Unlock()
}

func (ps *points) committedNow() {
	ps.mu.Lock()
	ps.committed = true
	ps.mu.Unlock()
}

// set has the relays stop at p.
func (ps *points) set(p *point) {
	ps.mu.Lock()
	ps.next = p
	ps.mu.Unlock()
}

// begin forgets what was decided.
func (ps *points) begin() {
	ps.mu.Lock()
	ps.next, ps.decided, ps.committed, ps.began, ps.trace = nil, false, false, time.Now(), nil
	ps.mu.Unlock()
}

// decision reports whether a server was asked for a decision since begin, and whether it said OK.
func (ps *points) decision() (decided, committed bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.decided, ps.committed
}

// story returns the trace.
func (ps *points) story() string {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return strings.Join(ps.trace, "\n")
}
