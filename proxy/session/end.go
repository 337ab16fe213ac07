package session

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"kingshard/mysql"
)

// EndReason says why a session ended. The set is closed: metrics and logs name these and no others.
type EndReason uint8

// The reasons.
const (
	EndQuit        EndReason = iota // COM_QUIT
	EndClientGone                   // the client's connection broke or was closed without COM_QUIT
	EndProtocol                     // the client broke the protocol
	EndDenied                       // the login failed
	EndHandshake                    // no login within the handshake time-out
	EndIdle                         // no command within the idle time-out
	EndStalled                      // the client stopped reading its result
	EndKilled                       // KILL
	EndDrained                      // the proxy shuts down
	EndBackendLost                  // the backend connection that held the session's state broke
	EndPanic                        // a fault in the proxy, logged with its stack
	EndMoved                        // the process of another binary goes on with it
	endReasons
)

var endNames = [endReasons]string{
	"quit", "client_gone", "protocol", "denied", "handshake_timeout", "idle_timeout", "client_stalled", "killed", "drained", "backend_lost", "panic",
	"moved",
}

// String gives the label used in metrics and logs.
func (r EndReason) String() string { return endNames[r] }

// endError ends the session once whatever it queued for the client is sent.
type endError struct {
	reason EndReason
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
	case EndQuit, EndDrained, EndMoved:
		return false
	}
	return true
}

// origin is where that came from.
func (e *endError) origin() Origin {
	switch e.reason {
	case EndClientGone, EndProtocol, EndDenied, EndHandshake, EndStalled:
		return OriginClient
	case EndBackendLost:
		return OriginBackend
	}
	return OriginProxy
}

// errQuit ends a session that said goodbye.
var errQuit = &endError{reason: EndQuit}

// clientEnd gives the reason that follows from a failure on the client's connection.
func clientEnd(err error) *endError {
	reason := EndProtocol
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, net.ErrClosed):
		reason = EndClientGone
	case isTimeout(err):
		reason = EndHandshake
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
