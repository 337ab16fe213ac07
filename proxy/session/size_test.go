package session

import (
	"testing"
	"unsafe"

	"kingshard/mysql"
)

// An idle client costs a Session and a Conn. Go puts 8 bytes in front of an object of more than 512: with 1,016 bytes it has 1,024, with more
// 1,152. A Conn of more than 384 has 416.
func TestSessionSize(t *testing.T) {
	if size := unsafe.Sizeof(Session{}); size > 1016 {
		t.Errorf("a Session has %d bytes, which take 1,152", size)
	}
	if size := unsafe.Sizeof(mysql.Conn{}); size > 384 {
		t.Errorf("a Conn has %d bytes, which take 416", size)
	}
}
