// Package sockopt sets and reads options of TCP sockets that the standard library lacks. What a system does not have, and sockets
// that are not of TCP, are left as they are.
package sockopt

import (
	"syscall"
	"time"
)

// UserTimeout has the system break a connection whose peer has not acknowledged for so long what was sent to it, or has not taken it; 0
// leaves that to the system, which tries for a quarter of an hour. RFC 5482.
func UserTimeout(raw syscall.RawConn, d time.Duration) { userTimeout(raw, d) }

// Delivery is how far what was written to a TCP connection has come.
type Delivery struct {
	Unacknowledged int // bytes that the peer has not acknowledged, the end of the own side among them as one byte
	Unsent         int // those of them that never left
}

// Delivered returns that of a connection which may have broken; false where it is not known.
func Delivered(raw syscall.RawConn) (d Delivery, ok bool) { return delivered(raw) }

// SinceReceived returns for how long no byte of data has come, and whether that is known.
func SinceReceived(raw syscall.RawConn) (d time.Duration, ok bool) { return sinceReceived(raw) }
