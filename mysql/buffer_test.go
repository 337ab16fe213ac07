package mysql

import "testing"

func TestBuffers(t *testing.T) {
	var s Buffers
	a, b := s.take(bufferSmall), s.take(bufferSmall)
	if a == b || len(a.b) != bufferSmall || len(b.b) != bufferSmall {
		t.Fatal("two buffers are one, or too short")
	}
	s.put(a)
	s.put(b)
	s.put(newBuffer(bufferLarge))
	if s.take(bufferSmall) != b || s.take(bufferSmall) != a {
		t.Error("the small buffers used last are not the next")
	}
}
