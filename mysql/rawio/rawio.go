package rawio

import (
	"io"
	"syscall"
)

// Receive reads what has arrived at the socket, at most len(b) bytes. With none comes an error: syscall.EAGAIN if nothing has
// arrived yet, io.EOF at the end, else that of recv(2).
func Receive(fd uintptr, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, errno := receive(fd, b[:min(len(b), Step)])
		switch {
		case errno == 0 && n == 0:
			return 0, io.EOF
		case errno == 0:
			return n, nil
		case errno != syscall.EINTR:
			return 0, errno
		}
	}
}

// Send writes what the socket takes now, at most len(b) bytes. With none comes an error: syscall.EAGAIN if it takes nothing
// now, else that of send(2). On Linux no signal is raised where the other side is gone.
func Send(fd uintptr, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, errno := send(fd, b[:min(len(b), Step)])
		switch {
		case errno == 0:
			return n, nil
		case errno != syscall.EINTR:
			return 0, errno
		}
	}
}
