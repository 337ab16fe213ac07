package sockopt

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func userTimeout(raw syscall.RawConn, d time.Duration) {
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
	})
}

func delivered(raw syscall.RawConn) (d Delivery, ok bool) {
	err := raw.Control(func(fd uintptr) {
		_, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
		if err != nil {
			return // it is no TCP
		}
		// Of a connection that was reset the kernel has forgotten what it kept, not how far it had come.
		if d.Unacknowledged, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
			d.Unsent, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQNSD)
		}
		ok = err == nil
	})
	return d, ok && err == nil
}

func sinceReceived(raw syscall.RawConn) (d time.Duration, ok bool) {
	var info *unix.TCPInfo
	var err error
	if raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) }) != nil || err != nil {
		return 0, false
	}
	return time.Duration(info.Last_data_recv) * time.Millisecond, true
}
