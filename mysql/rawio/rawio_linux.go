package rawio

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func receive(fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0)
	if errno == 0 {
		received(b[:n])
	}
	return int(n), errno
}

func send(fd uintptr, b []byte) (int, syscall.Errno) {
	sending(b)
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}
