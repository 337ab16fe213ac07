package handover

import (
	"errors"
	"fmt"

	"kingshard/mysql"
)

// Hello is what the old process says of itself.
type Hello struct {
	PID     int
	Program string // its version, for logs
	// Listeners is how many follow.
	Listeners int
	// Offline is what an operator told it to say to load balancers.
	Offline bool
}

// listenersMax bounds the listeners of one process.
const listenersMax = 64

// errVersion says that the two processes do not speak the same language.
var errVersion = errors.New("hand-over protocol")

// appendTo encodes it. The version stands first, and will in every version.
func (h *Hello) appendTo(b []byte) []byte {
	b = mysql.AppendUint32(b, Version)
	b = mysql.AppendUint32(b, uint32(h.PID))
	b = mysql.AppendLenencString(b, h.Program)
	offline := byte(0)
	if h.Offline {
		offline = 1
	}
	return append(b, byte(h.Listeners), offline)
}

// decode reads one, of this version only.
func (h *Hello) decode(b []byte) error {
	c := mysql.NewCursor(b)
	if v := c.Uint32(); c.Err() == nil && v != Version {
		return fmt.Errorf("%w %d of the running process, and this binary speaks %d: restart it", errVersion, v, Version)
	}
	h.PID, h.Program = int(c.Uint32()), string(c.LenencBytes())
	h.Listeners, h.Offline = int(c.Uint8()), c.Uint8() != 0
	if c.Err() != nil || c.Len() > 0 || h.Listeners > listenersMax {
		return errFrame
	}
	return nil
}

// ListenerName says which listener of a configuration one is.
type ListenerName struct {
	Field string // such as "addr"
	Value string // as configured
}

func (n *ListenerName) appendTo(b []byte) []byte {
	return mysql.AppendLenencString(mysql.AppendLenencString(b, n.Field), n.Value)
}

func (n *ListenerName) decode(b []byte) error {
	c := mysql.NewCursor(b)
	n.Field, n.Value = string(c.LenencBytes()), string(c.LenencBytes())
	if c.Err() != nil || c.Len() > 0 {
		return errFrame
	}
	return nil
}
