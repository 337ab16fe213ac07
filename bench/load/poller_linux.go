package load

import (
	"net"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"kingshard/mysql/rawio"
)

// poller waits for sockets, or until a moment, whichever comes first, to the microsecond: epoll_pwait2(2).
type poller struct {
	fd     int
	events [128]unix.EpollEvent
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	return &poller{fd: fd}, err
}

func (p *poller) close() { _ = unix.Close(p.fd) }

// watch has wait tell when something has come for a socket, which is called by a number.
func (p *poller) watch(s *socket, number int) error {
	return unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, int(s.fd), &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(number)})
}

// wait gives how many sockets have something to be read, 0 when the time is up or the Go scheduler wants to stop the thread. That is not told
// of the wait, or it would wake others to look for something to run at each statement.
func (p *poller) wait(d time.Duration) (int, error) {
	timeout := unix.NsecToTimespec(int64(max(0, d)))
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events)), uintptr(len(p.events)),
		uintptr(unsafe.Pointer(&timeout)), 0, 0)
	switch errno {
	case 0:
		return int(n), nil
	case unix.EINTR:
		return 0, nil
	}
	return 0, errno
}

// at is the number of one of the sockets that the last wait found.
func (p *poller) at(i int) int { return int(p.events[i].Fd) }

// ownThread gives the calling goroutine a thread that nothing else runs on, to its end, and whose waits end on time, not some 50 us later.
func ownThread() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

// socket is a TCP connection that the Go scheduler does not watch, so its events wake no further thread.
type socket struct {
	net.Conn // closed; it knows its addresses
	fd       uintptr
}

// detach takes the socket away from a connection, which it closes.
func detach(nc net.Conn) (*socket, error) {
	defer nc.Close()
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return nil, syscall.ENOTSOCK
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: nc}
	var failure error
	err = raw.Control(func(fd uintptr) {
		var copied int
		copied, failure = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
		s.fd = uintptr(copied)
	})
	if err == nil {
		err = failure
	}
	return s, err
}

func (s *socket) Close() error                   { return unix.Close(int(s.fd)) }
func (s *socket) Read(b []byte) (int, error)     { return rawio.Receive(s.fd, b) }
func (s *socket) TryRead(b []byte) (int, error)  { return rawio.Receive(s.fd, b) }
func (s *socket) TryWrite(b []byte) (int, error) { return rawio.Send(s.fd, b) }
func (s *socket) WaitRead() error                { return syscall.EAGAIN }
func (s *socket) WaitWrite() error               { return syscall.EAGAIN }
func (s *socket) ReadAgain()                     {}

// Write sends all of b, or fails: a server that does not read what is so short has a peer that it does not serve.
func (s *socket) Write(b []byte) (int, error) {
	n, err := rawio.Send(s.fd, b)
	if err == nil && n < len(b) {
		err = syscall.EAGAIN
	}
	return n, err
}
