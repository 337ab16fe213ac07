// Package mirror sends statements of clients once more, to another node: nobody waits for them, and their answers are thrown away.
// Start with [New], and [Mirror.Run] on a goroutine of its own.
package mirror

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"kingshard/backend"
	"kingshard/mysql"
	"kingshard/proxy/queryrule"
)

// The bounds of what waits and runs. Statements of one session keep their order: they go to one worker.
const (
	workers       = 4
	waitingMax    = 1000     // statements, for each worker
	textMax       = 1 << 20  // bytes of one statement
	bytesMax      = 16 << 20 // of all that wait
	connWait      = time.Second
	statementTime = 30 * time.Second
)

// Statement is one to be sent to the primary of a node.
type Statement struct {
	Rule    *queryrule.Rule // which counts what becomes of it
	Node    *backend.Node
	Setting *backend.Setting // the state of the client's session
	Text    string
	Session uint32 // of the client
}

// Mirror holds the statements that wait.
type Mirror struct {
	queues [workers]chan Statement
	bytes  atomic.Int64
	log    *slog.Logger

	mu      sync.Mutex
	running [workers]*backend.Conn
	stopped bool
}

// New makes a Mirror; log gets what fails, at the level debug.
func New(log *slog.Logger) *Mirror {
	m := &Mirror{log: log}
	for k := range m.queues {
		m.queues[k] = make(chan Statement, waitingMax)
	}
	return m
}

// Offer takes a statement over, or drops it where too much waits already. It does not wait.
func (m *Mirror) Offer(st Statement) {
	n := int64(len(st.Text))
	if n <= textMax && m.bytes.Add(n) <= bytesMax {
		select {
		case m.queues[st.Session%workers] <- st:
			return
		default:
		}
	}
	if n <= textMax {
		m.bytes.Add(-n)
	}
	st.Rule.Mirrored.Dropped.Add(1)
}

// Run sends what is offered until stop is closed. What runs then is given up, what waits is forgotten.
func (m *Mirror) Run(stop <-chan struct{}) {
	var all sync.WaitGroup
	for k := range workers {
		all.Go(func() { m.work(k, stop) })
	}
	<-stop
	m.mu.Lock()
	m.stopped = true
	for _, c := range m.running {
		if c != nil {
			c.Net.SetDeadline(time.Now())
		}
	}
	m.mu.Unlock()
	all.Wait()
}

func (m *Mirror) work(k int, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case st := <-m.queues[k]:
			m.bytes.Add(-int64(len(st.Text)))
			if err := m.send(k, &st, stop); err != nil {
				st.Rule.Mirrored.Failed.Add(1)
				m.log.Debug("a mirrored statement failed", "rule", st.Rule.Name, "node", st.Node.Name, "error", withoutValues(err))
				continue
			}
			st.Rule.Mirrored.Sent.Add(1)
		}
	}
}

// send runs a statement to its end.
func (m *Mirror) send(k int, st *Statement, stop <-chan struct{}) error {
	p, err := st.Node.Primary.Get(st.Setting, time.Now().Add(connWait), stop)
	if err != nil {
		return err
	}
	if !m.begin(k, p.Conn) {
		p.Put()
		return errStopped
	}
	if !p.Instance.Stored().Plain() {
		p.Conn.Marked = true // what the text reaches there is not looked into
	}
	err = run(p.Conn, st.Text)
	m.end(k)
	var refused *mysql.SQLError
	if err != nil && !errors.As(err, &refused) {
		p.Taint()
		return err
	}
	p.Conn.Net.SetDeadline(time.Time{})
	p.Put()
	return err
}

// withoutValues gives an error for the log: the message of a server may have values in it.
func withoutValues(err error) error {
	if refused, ok := errors.AsType[*mysql.SQLError](err); ok {
		return fmt.Errorf("error %d (%s) of the server", refused.Code, refused.State)
	}
	return err
}

var errStopped = errors.New("the proxy stops")

// run sends a text and reads the answer to its end. After an error of the server the connection is as good as before.
func run(c *backend.Conn, text string) error {
	c.Command(mysql.ComQuery, text)
	if err := c.Flush(); err != nil {
		return err
	}
	_, err := c.SkipResponse(math.MaxInt)
	if c.Status.Has(mysql.ServerStatusInTrans) { // as without autocommit
		var refused *mysql.SQLError
		if err == nil || errors.As(err, &refused) {
			if end := c.Exec("COMMIT AND NO CHAIN NO RELEASE"); end != nil {
				return end
			}
		}
	}
	return err
}

// begin notes the connection that a worker uses, and gives the statement its time; false where nothing may begin.
func (m *Mirror) begin(k int, c *backend.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return false
	}
	m.running[k] = c
	c.Net.SetDeadline(time.Now().Add(statementTime))
	return true
}

func (m *Mirror) end(k int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.running[k] = nil
}
