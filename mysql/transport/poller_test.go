package transport

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
)

// poller is a Poller in memory. Each wait makes room for 3 bytes.
type poller struct {
	net.Conn
	in, out bytes.Buffer
	room    int
	waits   int
	again   bool
	err     error // of every write, when set
}

func (p *poller) TryRead(b []byte) (int, error) {
	if p.in.Len() == 0 {
		return 0, syscall.EAGAIN
	}
	return p.in.Read(b)
}

func (p *poller) TryWrite(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n := min(len(b), p.room)
	p.room -= n
	p.out.Write(b[:n])
	if n < len(b) {
		return n, syscall.EAGAIN
	}
	return n, nil
}

func (p *poller) WaitRead() error { return io.EOF }

func (p *poller) ReadAgain() { p.again = true }

func (p *poller) WaitWrite() error {
	p.waits++
	p.room += 3
	return nil
}

// TestPoller: TrySend and TryRead do not wait and fail for nothing; Send waits until all is written.
func TestPoller(t *testing.T) {
	a, _ := socketPair(t)
	c, p := new(Conn), &poller{room: 2}
	c.Open(a)
	c.Rebase(p)
	if c.Poller() != p || c.Bare() != p || c.NetConn() != p || c.Raw() != nil {
		t.Error("it is not over the poller")
	}
	if n := c.TrySend([]byte("abcd")); n != 2 || c.WriteError() != nil || p.waits != 0 {
		t.Errorf("%d bytes fit in, %v, %d waits", n, c.WriteError(), p.waits)
	}
	c.Send([]byte("cdefgh"))
	if p.out.String() != "abcdefgh" || c.WriteError() != nil || p.waits != 2 || c.Activity() != 8 || c.Writing() {
		t.Errorf("%q with %d waits, activity %d, %v", p.out.String(), p.waits, c.Activity(), c.WriteError())
	}
	b := make([]byte, 8)
	if n, err := c.TryRead(b); n != 0 || err != syscall.EAGAIN || c.Broken() || c.Activity() != 8 {
		t.Errorf("nothing there: %d bytes, %v, broken %t", n, err, c.Broken())
	}
	p.in.WriteString("xyz")
	if n, err := c.TryRead(b); err != nil || string(b[:n]) != "xyz" || c.Received() != 3 || c.Activity() != 9 {
		t.Errorf("%q, %v, %d received", b[:n], err, c.Received())
	}
	p.err = errors.New("broken")
	if n := c.TrySend(b); n != 0 || c.WriteError() != p.err {
		t.Errorf("%d bytes, %v", n, c.WriteError())
	}
}
