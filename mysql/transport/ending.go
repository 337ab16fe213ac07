package transport

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// Ending is what the first read that failed has found.
type Ending uint8

// The endings.
const (
	NotEnded     Ending = iota
	EndedInOrder        // the peer has closed its side
	EndedByReset        // ECONNRESET
	EndedOtherwise
)

// noteEnding notes why a read failed, and returns that. The system tells of a reset once, and then that the peer has closed its side.
func (c *Conn) noteEnding(err error) error {
	if err == nil {
		err = io.ErrNoProgress
	}
	switch {
	case c.ending != NotEnded, errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOBUFS), errors.Is(err, os.ErrDeadlineExceeded):
	case errors.Is(err, io.EOF):
		c.ending = EndedInOrder
	case errors.Is(err, syscall.ECONNRESET):
		c.ending = EndedByReset
	default:
		c.ending = EndedOtherwise
	}
	return err
}

// Ending is how the connection has ended, as far as reads have found.
func (c *Conn) Ending() Ending { return c.ending }

// unaskedMax is how many bytes AwaitEnding reads at most.
const unaskedMax = 64 << 10

// AwaitEnding reads what is still to come of a connection that is out of step, at most for d, and returns how it has ended. What it reads
// is dropped; the read deadline is left at d from now.
func (c *Conn) AwaitEnding(d time.Duration) Ending {
	if c.ending != NotEnded {
		return c.ending
	}
	var b [512]byte
	_ = c.SetReadDeadline(time.Now().Add(d))
	for range unaskedMax / len(b) {
		n, err := c.r.Read(b[:])
		if n > 0 {
			continue
		}
		_ = c.noteEnding(err)
		break
	}
	return c.ending
}

// PeerGone reports whether the peer has closed its side with nothing left to be read. It sends nothing and waits for nothing;
// any goroutine may call it while another one reads or writes.
func (c *Conn) PeerGone() bool {
	sc, ok := c.nc.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		gone = n == 0 && err == nil || err == syscall.ECONNRESET
	})
	return err == nil && gone
}

// Broken reports whether a read or a write has failed for good.
func (c *Conn) Broken() bool { return c.ending != NotEnded || c.writeErr != nil }
