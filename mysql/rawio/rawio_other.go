//go:build !linux

package rawio

import "syscall"

func receive(fd uintptr, b []byte) (int, syscall.Errno) { return of(syscall.Read(int(fd), b)) }

func send(fd uintptr, b []byte) (int, syscall.Errno) { return of(syscall.Write(int(fd), b)) }

// of gives the number of an error of package syscall, which has no others.
func of(n int, err error) (int, syscall.Errno) {
	errno, _ := err.(syscall.Errno)
	return n, errno
}
