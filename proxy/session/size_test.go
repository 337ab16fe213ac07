package session

import (
	"testing"
	"unsafe"
)

// An idle client costs a Session, and Go puts 8 bytes in front of an object of its size: with 1,144 bytes it has 1,152, with more 1,280.
func TestSessionSize(t *testing.T) {
	if size := unsafe.Sizeof(Session{}); size > 1144 {
		t.Errorf("a Session has %d bytes, which take 1,280", size)
	}
}
