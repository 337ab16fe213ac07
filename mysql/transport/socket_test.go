package transport

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func testSocket(t *testing.T, nc net.Conn) *socket {
	t.Helper()
	raw, err := nc.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return newSocket(nc, raw, new(atomic.Uint32))
}

// TestSocketErrors compares a socket's errors with those of the connection itself in the same state.
func TestSocketErrors(t *testing.T) {
	past := time.Unix(1, 0)
	states := map[string]struct {
		prepare func(nc, peer net.Conn)
		read    error
		write   error
	}{
		"read deadline": {func(nc, _ net.Conn) { _ = nc.SetReadDeadline(past) }, os.ErrDeadlineExceeded, nil},
		"write deadline": {func(nc, peer net.Conn) {
			_, _ = peer.Write([]byte("abc"))
			_ = nc.SetWriteDeadline(past)
		}, nil, os.ErrDeadlineExceeded},
		"closed": {func(nc, _ net.Conn) { _ = nc.Close() }, net.ErrClosed, net.ErrClosed},
		"end":    {func(_, peer net.Conn) { _ = peer.(*net.TCPConn).CloseWrite() }, io.EOF, nil},
	}
	for name, state := range states {
		t.Run(name, func(t *testing.T) {
			var read, write [2]error
			for k := range 2 {
				nc, peer := socketPair(t)
				if k == 1 {
					nc = testSocket(t, nc)
					state.prepare(nc.(*socket).Conn, peer)
				} else {
					state.prepare(nc, peer)
				}
				_, write[k] = nc.Write([]byte("hello"))
				_, read[k] = nc.Read(make([]byte, 8))
			}
			for op, got := range map[string][2]error{"read": read, "write": write} {
				want := state.read
				if op == "write" {
					want = state.write
				}
				for k, err := range got {
					if !errors.Is(err, want) {
						t.Errorf("%s %d: %v, want %v", op, k, err, want)
					}
				}
				if want == nil || want == io.EOF {
					continue
				}
				var own, its *net.OpError
				if !errors.As(got[0], &own) || !errors.As(got[1], &its) {
					t.Fatalf("%s: %v and %v", op, got[0], got[1])
				}
				if its.Op != own.Op || its.Net != own.Net || its.Timeout() != own.Timeout() || its.Addr == nil || its.Source == nil {
					t.Errorf("%s: %v, want as %v", op, its, own)
				}
			}
		})
	}
}

// TestSocketWaits writes far more than a connection takes at once to a reader that begins late.
func TestSocketWaits(t *testing.T) {
	a, b := socketPair(t)
	from, to := testSocket(t, a), testSocket(t, b)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	sent := make(chan error, 1)
	go func() {
		n, err := from.Write(want)
		if err == nil && n != len(want) {
			err = io.ErrShortWrite
		}
		sent <- err
	}()
	time.Sleep(20 * time.Millisecond)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(to, got); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatal("the bytes came otherwise than they were written")
	}

	// A write that has to wait ends with its deadline and says how much was taken.
	if err := from.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err := from.Write(want)
	if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n == len(want) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if _, err := io.ReadFull(to, got[:n]); err != nil || !bytes.Equal(got[:n], want[:n]) {
		t.Fatalf("%d bytes that were said to be taken: %v", n, err)
	}
}

func TestSocketAllocatesNothing(t *testing.T) {
	a, b := socketPair(t)
	from, to := testSocket(t, a), testSocket(t, b)
	buf := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := from.Write(buf); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Read(buf); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// TestSocketInterrupted: whoever waits hears at once that the connection was closed here or there, or that its time is over by now.
func TestSocketInterrupted(t *testing.T) {
	interruptions := map[string]struct {
		do   func(nc, peer net.Conn)
		want error
	}{
		"closed":   {func(nc, _ net.Conn) { _ = nc.Close() }, net.ErrClosed},
		"deadline": {func(nc, _ net.Conn) { _ = nc.SetDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		"reset": {func(_, peer net.Conn) {
			_ = peer.(*net.TCPConn).SetLinger(0)
			_ = peer.Close()
		}, syscall.ECONNRESET},
	}
	for name, interruption := range interruptions {
		for _, op := range []string{"read", "write"} {
			t.Run(name+" "+op, func(t *testing.T) {
				nc, peer := socketPair(t)
				s := testSocket(t, nc)
				result := make(chan error, 1)
				go func() {
					var err error
					if op == "read" {
						_, err = s.Read(make([]byte, 8))
					} else {
						_, err = s.Write(make([]byte, 64<<20)) // more than fits in
					}
					result <- err
				}()
				time.Sleep(20 * time.Millisecond)
				interruption.do(nc, peer)
				select {
				case err := <-result:
					if !errors.Is(err, interruption.want) {
						t.Errorf("%v, want %v", err, interruption.want)
					}
					if want := (*os.SyscallError)(nil); name == "reset" && !errors.As(err, &want) {
						t.Errorf("%v does not name the call", err)
					}
				case <-time.After(10 * time.Second):
					t.Error("it waits on")
				}
			})
		}
	}
}

func TestSocketUnix(t *testing.T) {
	a, b := sockets(t, "unix")
	from, to := testSocket(t, a), testSocket(t, b)
	if _, err := from.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 8)
	if n, err := to.Read(buf); err != nil || string(buf[:n]) != "hello" {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	_ = a.Close()
	if _, err := to.Read(buf); err != io.EOF {
		t.Fatalf("at the end: %v", err)
	}
	if _, err := to.Write(buf); !errors.Is(err, syscall.EPIPE) {
		t.Fatalf("to nobody: %v", err)
	}
}
