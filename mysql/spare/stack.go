// Package spare keeps memory for reuse within one goroutine, which has it with less ado than from a sync.Pool.
package spare

// most is how many lie ready at most.
const most = 64

// Stack holds what lies ready, the one used last on top. Zero is ready. One goroutine at a time uses it.
type Stack[T any] struct {
	free  []*T
	least int // the fewest there were since Trim
}

// Take gives the one on top; nil if there is none.
func (s *Stack[T]) Take() *T {
	n := len(s.free) - 1
	if n < 0 {
		return nil
	}
	x := s.free[n]
	s.free[n], s.free = nil, s.free[:n]
	s.least = min(s.least, n)
	return x
}

// Put keeps x; false if there are enough.
func (s *Stack[T]) Put(x *T) bool {
	if len(s.free) == most {
		return false
	}
	s.free = append(s.free, x)
	return true
}

// Trim hands those to drop that have not been used since the last call, and tells whether some are left.
func (s *Stack[T]) Trim(drop func(*T)) (left bool) {
	for range s.least {
		drop(s.Take())
	}
	s.least = len(s.free)
	return s.least > 0
}
