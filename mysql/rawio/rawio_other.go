//go:build !linux

package rawio

import (
	"io"
	"syscall"
)

// Receive reads what has arrived at the socket, at most len(b) bytes. With none comes an error: syscall.EAGAIN if nothing has
// arrived yet, io.EOF at the end, else that of read(2).
func Receive(fd uintptr, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, err := syscall.Read(int(fd), b[:min(len(b), Step)])
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case err != syscall.EINTR:
			return 0, err
		}
	}
}

// Send writes what the socket takes now, at most len(b) bytes. With none comes an error: syscall.EAGAIN if it takes nothing
// now, else that of write(2).
func Send(fd uintptr, b []byte) (int, error) {
	for {
		n, err := syscall.Write(int(fd), b[:min(len(b), Step)])
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
