package mysql

import "testing"

func TestBuffers(t *testing.T) {
	var s Buffers
	a, b := s.take(), s.take()
	if a == b || len(a.b) != bufferSmall || len(b.b) != bufferSmall {
		t.Fatal("two buffers are one, or too short")
	}
	s.put(a)
	s.put(b)
	if s.take() != b {
		t.Error("the buffer used last is not the next")
	}
	s.put(b)
	s.put(newBuffer(bufferLarge))
	if len(s.free) != 2 {
		t.Errorf("%d buffers lie ready, want the two small ones", len(s.free))
	}

	s.Trim() // from here on two lie ready
	s.put(s.take())
	if left := s.Trim(); len(s.free) != 1 || !left {
		t.Errorf("%d buffers lie ready after a time in which one was used; some: %v", len(s.free), left)
	}
	if left := s.Trim(); len(s.free) != 0 || left {
		t.Errorf("%d buffers lie ready after a time in which none was used", len(s.free))
	}

	for range buffersMax + 10 {
		s.put(newBuffer(bufferSmall))
	}
	if len(s.free) != buffersMax {
		t.Errorf("%d buffers lie ready, want at most %d", len(s.free), buffersMax)
	}
}
