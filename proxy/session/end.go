package session

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"

	"kingshard/mysql"
	"kingshard/proxy/observe"
	"kingshard/proxy/process"
)

// endError ends the session once whatever it queued for the client is sent.
type endError struct {
	reason process.EndReason
	err    error
}

func (e *endError) Error() string {
	if e.err != nil {
		return e.reason.String() + ": " + e.err.Error()
	}
	return e.reason.String()
}

func (e *endError) Unwrap() error { return e.err }

// failure tells whether the end cut a command off.
func (e *endError) failure() bool {
	switch e.reason {
	case process.EndQuit, process.EndDrained, process.EndMoved:
		return false
	}
	return true
}

// origin is where that came from.
func (e *endError) origin() observe.Origin {
	switch e.reason {
	case process.EndClientGone, process.EndProtocol, process.EndDenied, process.EndHandshake, process.EndStalled:
		return observe.OriginClient
	case process.EndBackendLost:
		return observe.OriginBackend
	}
	return observe.OriginProxy
}

// errQuit ends a session that said goodbye.
var errQuit = &endError{reason: process.EndQuit}

// clientEnd gives the reason that follows from a failure on the client's connection.
func clientEnd(err error) *endError {
	reason := process.EndProtocol
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed):
		reason = process.EndClientGone
	case isTimeout(err):
		reason = process.EndHandshake
	}
	return &endError{reason, err}
}

// isTimeout tells whether err is a deadline's.
func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
}

// isClientSide tells whether err is a failure of the client's connection.
func isClientSide(err error) bool {
	var ce *mysql.ConnError
	return errors.As(err, &ce) && ce.Side == mysql.ClientSide
}

// EndCounts counts sessions by why they ended. Zero is ready.
type EndCounts [process.EndReasons]atomic.Uint64

// Totals returns the counts by the names of the reasons, all of them.
func (c *EndCounts) Totals() map[string]uint64 {
	t := make(map[string]uint64, len(c))
	for r := range c {
		t[process.EndReason(r).String()] = c[r].Load()
	}
	return t
}
