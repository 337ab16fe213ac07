package mysql

import "syscall"

// PeerGone tells whether the peer has closed its side with nothing left to be read. It sends nothing and waits for nothing;
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
