package rawio

import (
	"bytes"
	"io"
	"syscall"
	"testing"
)

// pair is two ends of a socket that does not block.
func pair(t *testing.T) (a, b uintptr) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if err := syscall.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Close(fd) })
	}
	return uintptr(fds[0]), uintptr(fds[1])
}

func TestReceive(t *testing.T) {
	a, b := pair(t)
	buf := make([]byte, 8)
	if n, err := Receive(a, buf); n != 0 || err != syscall.EAGAIN {
		t.Fatalf("of an empty socket: %d, %v", n, err)
	}
	if n, err := Send(b, []byte("hello, world")); n != 12 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := Receive(a, nil); n != 0 || err != nil {
		t.Fatalf("into nothing: %d, %v", n, err)
	}
	for _, want := range []string{"hello, w", "orld"} {
		if n, err := Receive(a, buf); err != nil || string(buf[:n]) != want {
			t.Fatalf("%q, %v, want %q", buf[:n], err, want)
		}
	}
	if err := syscall.Shutdown(int(b), syscall.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	if n, err := Receive(a, buf); n != 0 || err != io.EOF {
		t.Fatalf("at the end: %d, %v", n, err)
	}
	if _, err := Receive(^uintptr(0), buf); err != syscall.EBADF {
		t.Fatalf("of no socket: %v", err)
	}
}

// TestSend fills a socket, and writes to one whose other end is gone, which must not raise a signal.
func TestSend(t *testing.T) {
	a, b := pair(t)
	if n, err := Send(a, nil); n != 0 || err != nil {
		t.Fatalf("nothing: %d, %v", n, err)
	}
	// The kernel gives twice as much as asked for, but net.core.wmem_max at most; by itself it takes less than Step at once.
	if err := syscall.SetsockoptInt(int(a), syscall.SOL_SOCKET, syscall.SO_SNDBUF, 2*Step); err != nil {
		t.Fatal(err)
	}
	room, err := syscall.GetsockoptInt(int(a), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Repeat([]byte("0123456789abcdef"), 8*Step/16)
	sent := 0
	for {
		n, err := Send(a, want[sent:])
		if err == syscall.EAGAIN && n == 0 {
			break
		}
		if err != nil || n == 0 || n > Step || sent == 0 && room > Step+Step/8 && n != Step {
			t.Fatalf("%d bytes, %v, with room for %d", n, err, room)
		}
		sent += n
	}
	got := make([]byte, sent)
	for read := 0; read < sent; {
		n, err := Receive(b, got[read:])
		if err != nil || n > Step {
			t.Fatalf("%d bytes, %v", n, err)
		}
		read += n
	}
	if sent == 0 || !bytes.Equal(got, want[:sent]) {
		t.Fatalf("%d bytes came otherwise than they were sent", sent)
	}
	if err := syscall.Shutdown(int(b), syscall.SHUT_RD); err != nil {
		t.Fatal(err)
	}
	if n, err := Send(a, want); n != 0 || err != syscall.EPIPE {
		t.Fatalf("to nobody: %d, %v", n, err)
	}
}
