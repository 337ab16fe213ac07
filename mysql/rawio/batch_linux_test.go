package rawio

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
	"testing"
)

// openBatch gives a Batch; nil where the system or its administrator does not allow one.
func openBatch(t *testing.T) *Batch {
	t.Helper()
	b, err := OpenBatch()
	if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) {
		t.Log("no io_uring:", err)
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// Every write of a batch goes to its socket, those of one socket in their order, however often the rings have come round.
func TestBatch(t *testing.T) {
	b := openBatch(t)
	if b == nil {
		return
	}
	const sockets = 8
	var near, far [sockets]uintptr
	for k := range sockets {
		near[k], far[k] = pair(t)
	}
	got := make([]byte, 1000)
	for round := range 200 {
		n := 1 + round%BatchMax
		var want [sockets][]byte
		for k := range n {
			p := fmt.Appendf(nil, "%d of %d;", k, round)
			b.Add(near[k%sockets], p)
			want[k%sockets] = append(want[k%sockets], p...)
		}
		b.Send()
		for k := range n {
			if sent, err := b.Sent(k); err != nil || sent != len(fmt.Sprintf("%d of %d;", k, round)) {
				t.Fatalf("write %d of round %d: %d, %v", k, round, sent, err)
			}
		}
		b.Reset()
		for k := range sockets {
			if len(want[k]) == 0 {
				continue
			}
			if r, err := Receive(far[k], got); err != nil || !bytes.Equal(got[:r], want[k]) {
				t.Fatalf("socket %d in round %d: %q, %v, want %q", k, round, got[:r], err, want[k])
			}
		}
	}
}

// A write that cannot be made, or not whole, says so, and does not keep those behind it.
func TestBatchOfBadSockets(t *testing.T) {
	b := openBatch(t)
	if b == nil {
		return
	}
	full, reader := pair(t)
	part := bytes.Repeat([]byte("x"), Step)
	for {
		if _, err := Send(full, part); err != nil {
			break
		}
	}
	broken, gone := pair(t)
	if err := syscall.Shutdown(int(gone), syscall.SHUT_RD); err != nil {
		t.Fatal(err)
	}
	good, peer := pair(t)
	for range 3 {
		b.Add(full, part)
		b.Add(broken, []byte("to nobody"))
		b.Add(math.MaxInt32, []byte("to no socket"))
		b.Add(good, []byte("to somebody"))
		b.Send()
		for k, want := range []struct {
			n   int
			err error
		}{{0, syscall.EAGAIN}, {0, syscall.EPIPE}, {0, syscall.EBADF}, {11, nil}} {
			if n, err := b.Sent(k); n != want.n || err != want.err {
				t.Errorf("write %d: %d, %v, want %d, %v", k, n, err, want.n, want.err)
			}
		}
		b.Reset()
		got := make([]byte, 100)
		if n, err := Receive(peer, got); err != nil || string(got[:n]) != "to somebody" {
			t.Errorf("%q, %v", got[:n], err)
		}
	}
	for { // room for a part of one
		if _, err := Receive(reader, make([]byte, Step)); err != nil {
			break
		}
	}
	b.Add(full, part)
	b.Send()
	if n, err := b.Sent(0); n == 0 || n > len(part) || err != nil {
		t.Errorf("with some room: %d, %v", n, err)
	}
}

// What the kernel does not take is as if its socket took nothing, and does not leave later.
func TestBatchThatTheKernelDeclines(t *testing.T) {
	b := openBatch(t)
	if b == nil {
		return
	}
	near, far := pair(t)
	ring := b.fd
	b.fd = int(near) // no ring
	b.Add(near, []byte("lost"))
	b.Add(near, []byte("lost too"))
	b.Send()
	for k := range 2 {
		if n, err := b.Sent(k); n != 0 || err != syscall.EAGAIN {
			t.Errorf("write %d: %d, %v", k, n, err)
		}
	}
	b.Reset()
	b.fd = ring
	b.Add(near, []byte("sent"))
	b.Send()
	got := make([]byte, 100)
	if n, err := Receive(far, got); err != nil || string(got[:n]) != "sent" {
		t.Errorf("%q, %v", got[:n], err)
	}
}

// TestOpenBatchAgain opens batches one after the other: each gives back what it took.
func TestOpenBatchAgain(t *testing.T) {
	descriptors := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	b := openBatch(t)
	if b == nil {
		return
	}
	b.Close()
	before := descriptors()
	for k := range 100 {
		b, err := OpenBatch()
		if err != nil {
			t.Fatalf("batch %d: %v", k, err)
		}
		if b.Close(); descriptors() > before+2 { // the runtime's own may come
			t.Fatalf("%d descriptors after batch %d, %d before", descriptors(), k, before)
		}
	}
}
