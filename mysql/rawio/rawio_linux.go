package rawio

import (
	"io"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Receive reads what has arrived at the socket, at most len(b) bytes. With none comes an error: syscall.EAGAIN if nothing has
// arrived yet, io.EOF at the end, else that of recv(2).
func Receive(fd uintptr, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(min(len(b), Step)), 0, 0, 0)
		switch {
		case errno == 0 && n == 0:
			received(nil)
			return 0, io.EOF
		case errno == 0:
			received(b[:n])
			return int(n), nil
		case errno != syscall.EINTR:
			return 0, errno
		}
	}
}

// Send writes what the socket takes now, at most len(b) bytes. With none comes an error: syscall.EAGAIN if it takes nothing
// now, else that of send(2). No signal is raised where the other side is gone.
func Send(fd uintptr, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	sending(b)
	for {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(min(len(b), Step)), unix.MSG_NOSIGNAL, 0, 0)
		switch {
		case errno == 0:
			return int(n), nil
		case errno != syscall.EINTR:
			return 0, errno
		}
	}
}
