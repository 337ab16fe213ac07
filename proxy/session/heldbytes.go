package session

import "kingshard/mysql"

// heldBytes are bytes of a statement's that count in packet_memory beside the packets of clients.
type heldBytes struct {
	memory *mysql.Memory
	n      int
}

// set has them be n; false, and as before, where there is no room for more.
func (h *heldBytes) set(n int) bool {
	switch {
	case n <= h.n:
		h.memory.Give(h.n - n)
	case !h.memory.Take(n - h.n):
		return false
	}
	h.n = n
	return true
}
