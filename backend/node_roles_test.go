package backend

import (
	"testing"

	"kingshard/backend/roles"
)

// An operator's choice of a primary is nothing to follow: who still watches the servers of before, which do not answer, hears of no move.
func TestChosenPrimaryDoesNotMove(t *testing.T) {
	for _, servers := range [][]string{{"p"}, {"p", "q"}} { // q is a replica, or was of no node
		r := NewRoles("p")
		r.Become("p")
		r.Note(roles.Observation{Addr: "p", Failures: 1}, servers, false)
		r.Become("q")
		if v := r.Note(roles.Observation{Addr: "p", Failures: 9}, servers, false); v.Primary != "q" || v.Moves {
			t.Errorf("%q: %+v", servers, v)
		}
	}
}
