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

// SinceReceived returns for how long no byte of data has come, and whether that is known.
func SinceReceived(raw syscall.RawConn) (d time.Duration, ok bool) { return sinceReceived(raw) }
