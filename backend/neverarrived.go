package backend

import (
	"crypto/tls"
	"runtime"
	"syscall"
	"time"

	"kingshard/mysql/sockopt"
	"kingshard/mysql/transport"
)

// endingMax is how long a server may take to close a connection on which it said something unasked: MySQL tells who is idle for too long.
const endingMax = 100 * time.Millisecond

// NeverArrived tells whether the server cannot have had all of the last command that was written to a connection which has failed, so
// that nothing of it was, or will be, carried out. It is asked after a failure only. False is no proof of the contrary. The proofs are:
//
//   - A write failed: the system has not taken all of the command.
//   - Bytes of it never left, and the connection is at its end: as long as it is not, the system may still send them, also after the own
//     side was closed.
//   - The server has closed its side, in order, and not acknowledged the command's last byte: what says so acknowledges all that had
//     come until then, and after it the server takes no more.
//   - A unix socket was reset: the server had not read all that was in it.
//
// A reset of a TCP connection proves nothing of that kind. It acknowledges nothing, and who read and carried out a command may not have
// acknowledged it yet.
func (c *Conn) NeverArrived() bool {
	if c.Net.WriteError() != nil {
		return true
	}
	if c.raw == nil {
		return false
	}
	ending := c.AwaitEnding(endingMax)
	d, isTCP := sockopt.Delivered(c.raw)
	if !isTCP {
		return runtime.GOOS == "linux" && c.Net.Bare() != nil && c.Net.RemoteAddr().Network() == "unix" && ending == transport.EndedByReset
	}
	if c.cutOff.Load() || ending != transport.EndedInOrder && ending != transport.EndedByReset {
		return false
	}
	if d.Unsent > 0 {
		return true
	}
	if ending != transport.EndedInOrder {
		return false
	}
	if _, isTLS := c.Net.NetConn().(*tls.Conn); isTLS && !c.endsBelow() {
		return false // TLS has an end of its own, ahead of the connection's
	}
	return d.Unacknowledged > 0
}

// endsBelow waits for the end of the connection under TLS and tells whether it was in order.
func (c *Conn) endsBelow() (inOrder bool) {
	for wait := time.Millisecond; wait < endingMax; wait *= 2 {
		n, err := 0, error(syscall.EAGAIN)
		_ = c.raw.Control(func(fd uintptr) {
			var b [1]byte
			n, _, err = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		})
		if err != syscall.EAGAIN {
			return n == 0 && err == nil
		}
		time.Sleep(wait)
	}
	return false
}
