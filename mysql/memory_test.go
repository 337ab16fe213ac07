package mysql

import (
	"sync"
	"testing"
)

// What does not fit leaves the room to what does, at no moment less.
func TestMemoryRefusesOnlyWhatDoesNotFit(t *testing.T) {
	var m Memory
	m.SetMost(100)
	if m.Take(101) {
		t.Fatal("more than all was taken")
	}
	const times = 20_000
	var wg sync.WaitGroup
	wg.Go(func() {
		for range times {
			if m.Take(101) {
				t.Error("more than all was taken")
			}
		}
	})
	wg.Go(func() {
		for range times {
			if !m.Take(100) {
				t.Error("what fits was refused")
				return
			}
			m.Give(100)
		}
	})
	wg.Wait()
	if m.Used() != 0 || m.Refused() != times+1 {
		t.Errorf("%d bytes are held, %d were refused", m.Used(), m.Refused())
	}
}
