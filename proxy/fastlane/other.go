//go:build !linux

package fastlane

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// errNone says that there are no loops on this system.
var errNone = errors.New("event loops are for Linux only")

// Group is a number of loops: none here.
type Group struct{}

// Loop is an event loop.
type Loop struct{}

// Conn is a connection in a loop.
type Conn struct{ net.Conn }

// Open fails: there are loops on Linux only.
func Open(int, func(func()), func(*Loop) Ticker) (*Group, error) { return nil, errNone }

// Loops are none.
func (*Group) Loops() []*Loop { return nil }

// Use does nothing.
func (*Group) Use(int) {}

// Nap does nothing.
func (*Group) Nap(int) {}

// Alone says that there are no loops.
func (*Group) Alone() error { return errNone }

// Adopt fails.
func (*Group) Adopt(net.Conn) (*Conn, error) { return nil, errNone }

// Close does nothing.
func (*Group) Close() {}

// Gathered is 0.
func (*Group) Gathered() uint64 { return 0 }

// Wakes is 0.
func (*Group) Wakes() uint64 { return 0 }

// Adopt fails.
func (*Loop) Adopt(net.Conn) (*Conn, error) { return nil, errNone }

// Ticker is nil.
func (*Loop) Ticker() Ticker { return nil }

// After does nothing.
func (*Loop) After(time.Duration) {}

// AtRoundEnd does nothing.
func (*Loop) AtRoundEnd() {}

// Gather does nothing.
func (*Loop) Gather(*Conn, []byte, Sender) {}

// SendGathered does nothing.
func (*Loop) SendGathered() {}

// Woke does nothing.
func (*Loop) Woke() {}

// TickNow does nothing.
func (*Loop) TickNow() {}

// Park does nothing.
func (*Loop) Park(*Conn, Handler) {}

// ParkHome does nothing.
func (*Loop) ParkHome(*Conn, Handler) bool { return true }

// Unpark does nothing.
func (*Loop) Unpark(*Conn) {}

// Take fails.
func (*Loop) Take(*Conn) error { return errNone }

// Park declines.
func (*Conn) Park(Handler) bool { return false }

// Wake does nothing.
func (*Conn) Wake() {}

// Leave does nothing.
func (*Conn) Leave() {}

// SyscallConn fails.
func (*Conn) SyscallConn() (syscall.RawConn, error) { return nil, errNone }

// TryRead fails.
func (*Conn) TryRead([]byte) (int, error) { return 0, errNone }

// TryWrite fails.
func (*Conn) TryWrite([]byte) (int, error) { return 0, errNone }

// WaitRead fails.
func (*Conn) WaitRead() error { return errNone }

// WaitWrite fails.
func (*Conn) WaitWrite() error { return errNone }

// ReadAgain does nothing.
func (*Conn) ReadAgain() {}
