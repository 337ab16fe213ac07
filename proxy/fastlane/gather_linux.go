package fastlane

import (
	"sync/atomic"
	"syscall"

	"kingshard/mysql/rawio"
)

// gathered is what a round has to send with one system call.
type gathered struct {
	batch *rawio.Batch // nil where it cannot be had
	alone error        // why
	list  []outgoing
	// together counts the writes that were made with others.
	together atomic.Uint64
}

// outgoing is a connection with something to send.
type outgoing struct {
	c    *Conn
	b    []byte
	from Sender
}

// Gather has b, which stays as it is until SendGathered, sent there on a connection that the loop owns, together with what others have to
// send. From is told how much of it was sent: it may be nothing, of which the reason is for the caller to find, who writes the rest.
func (l *Loop) Gather(c *Conn, b []byte, from Sender) {
	if l.batch != nil && len(b) > 0 && len(b) <= rawio.Step {
		l.list = append(l.list, outgoing{c, b, from})
	}
}

// SendGathered sends what was gathered.
func (l *Loop) SendGathered() {
	list := l.list
	for len(list) > 1 { // one alone is cheaper without
		n := min(len(list), rawio.BatchMax)
		l.sendTogether(list[:n])
		list = list[n:]
	}
	clear(l.list)
	l.list = l.list[:0]
}

func (l *Loop) sendTogether(list []outgoing) {
	held := list[:0]
	for _, o := range list {
		if o.c.hold() {
			o.c.out.state.CompareAndSwap(ready, idle)
			l.batch.Add(uintptr(o.c.fd), o.b)
			held = append(held, o)
		}
	}
	l.batch.Send()
	sent := uint64(0)
	for k, o := range held {
		n, err := l.batch.Sent(k)
		if errno, _ := err.(syscall.Errno); errno != 0 && errno != syscall.EAGAIN {
			o.c.cause = errno
		}
		o.c.letGo()
		if n > 0 {
			sent++
			o.from.Sent(n)
		}
	}
	l.together.Add(sent)
	l.batch.Reset()
}
