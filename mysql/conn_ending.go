package mysql

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

// noteEnding notes why a read failed. The system tells of a reset once, and then that the peer has closed its side.
func (c *Conn) noteEnding(err error) {
	switch {
	case c.ending != NotEnded, errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOBUFS), errors.Is(err, os.ErrDeadlineExceeded):
	case errors.Is(err, io.EOF):
		c.ending = EndedInOrder
	case errors.Is(err, syscall.ECONNRESET):
		c.ending = EndedByReset
	default:
		c.ending = EndedOtherwise
	}
}

// WriteFailed tells whether a write has failed: then the packets that were queued last have not all been handed to the system.
func (c *Conn) WriteFailed() bool { return c.werr != nil }

// Broken tells whether a read or a write has failed for good.
func (c *Conn) Broken() bool { return c.ending != NotEnded || c.werr != nil }

// unaskedMax is how many bytes AwaitEnding reads at most.
const unaskedMax = 64 << 10

// AwaitEnding reads what is still to come of a connection that is out of step, at most for d, and tells how it has ended. What it reads
// is dropped.
func (c *Conn) AwaitEnding(d time.Duration) Ending {
	if c.ending != NotEnded || c.spare != nil {
		return c.ending
	}
	var b [512]byte
	_ = c.SetReadDeadline(time.Now().Add(d))
	for range unaskedMax / len(b) {
		n, err := c.r.Read(b[:])
		if n > 0 {
			continue
		}
		c.noteEnding(err)
		break
	}
	return c.ending
}
