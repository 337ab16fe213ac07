package spare

import "testing"

func TestStack(t *testing.T) {
	var s Stack[int]
	if s.Take() != nil {
		t.Fatal("something of nothing")
	}
	dropped := 0
	drop := func(x *int) {
		if x == nil {
			t.Error("nothing is dropped")
		}
		dropped++
	}
	a, b := new(int), new(int)
	s.Put(a)
	s.Put(b)
	if s.Take() != b {
		t.Error("the one used last is not the next")
	}
	s.Put(b)

	s.Trim(drop) // from here on two lie ready
	s.Put(s.Take())
	if left := s.Trim(drop); dropped != 1 || !left {
		t.Errorf("%d of two were dropped after a time in which one was used; some are left: %v", dropped, left)
	}
	if left := s.Trim(drop); dropped != 2 || left || s.Take() != nil {
		t.Errorf("%d of two were dropped after a time in which none was used; some are left: %v", dropped, left)
	}

	for k := range most + 10 {
		if kept := s.Put(new(int)); kept != (k < most) {
			t.Fatalf("number %d is kept: %v", k, kept)
		}
	}
}
