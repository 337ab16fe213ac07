package session

import (
	"net"
	"testing"
	"time"

	"kingshard/mysql"
	"kingshard/proxy/process"
)

// trickle takes as many bytes as it is told to, and waits for the next number then.
type trickle struct {
	net.Conn
	take   chan int
	taken  chan struct{}
	closed chan struct{}
}

func (c *trickle) Write(b []byte) (int, error) {
	select {
	case n := <-c.take:
		defer func() { c.taken <- struct{}{} }()
		return min(n, len(b)), nil
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

func (c *trickle) Close() error {
	close(c.closed)
	return nil
}

func (c *trickle) SetDeadline(time.Time) error { return nil }

// A client that takes a byte a second is as one that takes none; one that is slow goes on.
func TestClientsThatTakeLittle(t *testing.T) {
	for bytes, lives := range map[int]bool{0: false, 1: false, process.RateMin - 1: false, 2 * process.RateMin: true} {
		nc := &trickle{take: make(chan int), taken: make(chan struct{}), closed: make(chan struct{})}
		s := assemble()
		s.client.conn = mysql.NewConn(nc, mysql.ClientSide, 1<<20)
		s.client.entry.Connect((*clientConn)(s.client.conn), process.Who{}, nil)
		s.client.entry.LoggedIn(true)
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.client.conn.WritePacket(make([]byte, 100_000))
			_ = s.client.conn.Flush()
		}()
		for !s.client.conn.Net.Writing() {
			time.Sleep(time.Millisecond)
		}
		for range 20 {
			s.client.entry.Tick(process.Limits{Stall: 4 * time.Second}, func(f func()) { go f() })
			if s.client.entry.CloseIfIdle(process.EndDrained) {
				break
			}
			if bytes > 0 {
				nc.take <- bytes
				<-nc.taken
				for before := s.client.conn.Net.Activity(); !s.client.conn.Net.Writing() && before == s.client.conn.Net.Activity(); {
					time.Sleep(time.Millisecond)
				}
			}
		}
		closing := s.client.entry.CloseIfIdle(process.EndDrained)
		if closing == lives {
			t.Errorf("with %d bytes a second, closed is %v", bytes, closing)
		}
		if !closing {
			nc.Close()
		} else if reason := s.client.entry.End(process.EndQuit); reason != process.EndStalled {
			t.Errorf("with %d bytes a second it ended by %v", bytes, reason)
		}
		<-done
	}
}
