package transport

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"

	"kingshard/mysql/rawio"
)

// socket is a network connection of the operating system, read and written by rawio.
type socket struct {
	net.Conn
	raw syscall.RawConn
	// moved counts how often the peer took a part of a write, see Conn.Activity.
	moved *atomic.Uint32

	// in and out are what is yet to be filled and to be sent.
	in, out       []byte
	inN           int
	inErr, outErr error
	// receive and send are the methods below, made once.
	receive, send func(fd uintptr) bool
}

// newSocket is for an nc that has the file descriptor of raw.
func newSocket(nc net.Conn, raw syscall.RawConn, moved *atomic.Uint32) *socket {
	s := &socket{Conn: nc, raw: raw, moved: moved}
	s.receive, s.send = s.tryReceive, s.trySend
	return s
}

// Read implements net.Conn. One goroutine at a time may call it.
func (s *socket) Read(b []byte) (int, error) {
	s.in, s.inN = b, 0
	err := s.raw.Read(s.receive)
	if s.in = nil; err == nil {
		err = s.inErr
	}
	return s.inN, s.failed("read", err)
}

func (s *socket) tryReceive(fd uintptr) (done bool) {
	s.inN, s.inErr = rawio.Receive(fd, s.in)
	return s.inErr != syscall.EAGAIN
}

// Write implements net.Conn. One goroutine at a time may call it.
func (s *socket) Write(b []byte) (int, error) {
	s.out = b
	err := s.raw.Write(s.send)
	if err == nil {
		err = s.outErr
	}
	n := len(b) - len(s.out)
	s.out = nil
	return n, s.failed("write", err)
}

func (s *socket) trySend(fd uintptr) (done bool) {
	for s.outErr = nil; len(s.out) > 0 && s.outErr == nil; {
		var n int
		n, s.outErr = rawio.Send(fd, s.out)
		if s.out = s.out[n:]; n > 0 && len(s.out) > 0 {
			s.moved.Add(uint32(n))
		}
	}
	return s.outErr != syscall.EAGAIN
}

// failed makes of err what the network connection's own Read and Write would give.
func (s *socket) failed(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if raw := (*net.OpError)(nil); errors.As(err, &raw) {
		err = raw.Err
	}
	if no, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(op, no)
	}
	e := &net.OpError{Op: op, Source: s.LocalAddr(), Addr: s.RemoteAddr(), Err: err}
	if e.Source != nil {
		e.Net = e.Source.Network()
	}
	return e
}
